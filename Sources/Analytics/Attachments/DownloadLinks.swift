import OpenSSL
import Text
package import Time

/// Signs and checks the tokens of download links. A token lets its holder download one attachment for a minute
/// (analytics §11.3).
package struct DownloadLinks: Sendable {
    package static let lifetime = Duration.seconds(60)

    private let secret: [UInt8]

    package init(secret: [UInt8]) { self.secret = secret }

    /// `<id>.<expiry>.<hex>`, and the time at which it expires.
    package func token(for id: Attachment.ID, at now: Timestamp) -> (text: String, expiry: Timestamp) {
        let expiry = Timestamp(seconds: (now + Self.lifetime).seconds)
        return ("\(id).\(expiry.seconds).\(signature("\(id)", "\(expiry.seconds)"))", expiry)
    }

    /// The attachment that a token lets its holder download now.
    ///
    /// - Throws: `unauthorized` if the token is missing, changed or expired.
    package func verify(_ token: String?, at now: Timestamp) throws(Refusal) -> Attachment.ID {
        let parts = (token ?? "").utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        guard parts.count == 3, constantTimeEqual(Array(signature(parts[0], parts[1]).utf8), Array(parts[2].utf8)),
            let id = Attachment.ID(parts[0]), let expiry = Int64(parts[1]), now < Timestamp(seconds: expiry)
        else { throw .unauthorized("Invalid or expired download link") }
        return id
    }

    private func signature(_ id: String, _ expiry: String) -> String {
        hmacSHA256(key: secret, Array("\(id):\(expiry)".utf8)).hexadecimal
    }
}
