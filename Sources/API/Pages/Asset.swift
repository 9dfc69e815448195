import HTTP
import OpenSSL

/// A file that pages refer to, at a fixed path. The query names its contents, so browsers may keep it for ever.
struct Asset: Sendable {
    let path: String
    let mediaType: String
    private let contents: [UInt8]
    private let version: String

    init(path: String, mediaType: String, _ contents: String) {
        self.path = path
        self.mediaType = mediaType
        self.contents = Array(contents.utf8)
        version = Array(sha256(self.contents).prefix(8)).hexadecimal
    }

    var link: String { "\(path)?v=\(version)" }

    /// - Parameter query: as sent. Another version is asked for while two instances take turns: it is answered with this
    ///   one's contents, and not kept.
    func response(query: String) -> Response {
        let caching = query == "v=\(version)" ? "public, max-age=31536000, immutable" : "no-cache"
        return Response(
            .ok,
            headers: [
                Response.Field("Content-Type", mediaType), Response.Field("Cache-Control", caching),
                Response.Field("X-Content-Type-Options", "nosniff"),
            ], body: contents)
    }
}
