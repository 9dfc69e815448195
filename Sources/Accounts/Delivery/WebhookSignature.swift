import OpenSSL
import Text
import Time

/// The signatures of one attempt (accounts §3.4).
struct WebhookSignature {
    let headers: [(String, String)]

    /// Nil without keys.
    ///
    /// - Parameter keys: newest first.
    init?(of payload: [UInt8], eventID: String, at time: Timestamp, _ keys: [WebhookKey]) {
        guard let newest = keys.first else { return nil }
        let mac = hmacSHA256(key: Array(newest.secret.utf8), payload).hexadecimal
        var headers = [("X-Logi-Signature", "t=\(time.seconds),kid=\(newest.keyID),v1=\(mac)")]

        // Standard Webhooks.
        let message = Array("\(eventID).\(time.seconds).".utf8) + payload
        let signatures = keys.compactMap(\.standardKey).map { "v1,\(Base64.encode(hmacSHA256(key: $0, message)))" }
        if !signatures.isEmpty {
            headers += [
                ("webhook-id", eventID), ("webhook-timestamp", "\(time.seconds)"),
                ("webhook-signature", signatures.joined(separator: " ")),
            ]
        }
        self.headers = headers
    }
}

extension WebhookKey {
    static let secretPrefix = "whsec_"

    /// The bytes that sign for Standard Webhooks; nil for a secret of the older form, which is base64url without padding.
    var standardKey: [UInt8]? {
        let text = secret.utf8.dropFirst(Self.secretPrefix.utf8.count)
        guard text.last == UInt8(ascii: "="), let key = Base64.decode(text), key.count == 32 else { return nil }
        return key
    }
}
