import HTTP
import Pages

extension Response {
    /// A file that pages link to.
    ///
    /// - Parameter query: as sent. If it names another version, the answer is this version, and clients must ask again
    ///   before they use it.
    static func asset(_ asset: Asset, query: String) -> Response {
        let caching = asset.isLinked(by: query) ? "public, max-age=31536000, immutable" : "no-cache"
        return Response(
            .ok,
            headers: [
                HeaderField("Content-Type", asset.mediaType), HeaderField("Cache-Control", caching),
                HeaderField("X-Content-Type-Options", "nosniff"),
            ], body: asset.contents)
    }
}
