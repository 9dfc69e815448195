import JOSE
import JSON
import OpenSSL
import Time

/// The token by which APNs knows who sends (Apple, "Establishing a token-based connection to APNs").
///
/// Apple takes one for an hour, and refuses a sender who makes another one within 20 minutes.
struct ProviderToken {
    private static let lifetime = Duration.seconds(40 * 60)
    private static let leastLifetime = Duration.seconds(20 * 60)

    private struct Claims: Encodable {
        var iss: String
        var iat: Int64
    }

    private let signer: Signer
    private let teamID: String
    private var current: (text: String, issuedAt: Timestamp)?

    init(_ settings: APNsSettings) {
        signer = Signer(keyID: settings.keyID, key: settings.privateKey)
        teamID = settings.teamID
    }

    mutating func text(at now: Timestamp) throws(OpenSSLError) -> String {
        // The clock may have been set back.
        if let current, (Duration.zero..<Self.lifetime).contains(now - current.issuedAt) { return current.text }
        let text = try signer.sign(Claims(iss: teamID, iat: now.seconds))
        current = (text, now)
        return text
    }

    /// APNs says that the token has expired.
    ///
    /// - Returns: false if it is too young to be replaced, so that the two clocks differ.
    mutating func renew(at now: Timestamp) -> Bool {
        if let current, (Duration.zero..<Self.leastLifetime).contains(now - current.issuedAt) { return false }
        current = nil
        return true
    }
}
