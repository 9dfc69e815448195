import OpenSSL
import Text

/// A file that pages refer to, at a fixed path. The query names its contents, so browsers may keep it for ever.
package struct Asset: Sendable {
    package let path: String
    package let mediaType: String
    package let contents: [UInt8]
    private let version: String

    package init(path: String, mediaType: String, _ contents: String) {
        self.init(path: path, mediaType: mediaType, Array(contents.utf8))
    }

    package init(path: String, mediaType: String, _ contents: [UInt8]) {
        self.path = path
        self.mediaType = mediaType
        self.contents = contents
        version = Array(sha256(self.contents).prefix(8)).hexadecimal
    }

    package var link: String { "\(path)?v=\(version)" }

    /// Whether a link has this query. Another version is asked for while two instances take turns.
    package func isLinked(by query: String) -> Bool { query == "v=\(version)" }
}
