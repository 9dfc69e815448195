import IdentityTokens
import JSON
import TestSupport

extension TestApp {
    /// What Apple's server sends: a JWT without sub, exp and nonce.
    ///
    /// - Parameters:
    ///   - asText: whether `events` is a string, as Apple writes it.
    ///   - eventTime: in milliseconds; nil: absent.
    ///   - changes: of claims; nil: absent.
    func appleNotification(
        _ type: String, of subject: String, id: String, asText: Bool = true,
        at eventTime: JSONValue? = 1_778_569_200_000, _ changes: [String: JSONValue?] = [:]
    ) -> String {
        var claims = appleNotificationClaims(type, of: subject, id: id, asText: asText, at: eventTime)
        for (name, value) in changes { claims[name] = value }
        return TestIssuer.token(header: TestIssuer.header(TestIssuer.rsa), claims: claims, TestIssuer.rsa)
    }

    func appleNotificationClaims(
        _ type: String, of subject: String, id: String, asText: Bool, at eventTime: JSONValue? = 1_778_569_200_000
    ) -> [String: JSONValue] {
        let event = (["type": .string(type), "sub": .string(subject)] as JSONValue).adding(["event_time": eventTime])
        var claims = issuer(.apple).claims()
        for name in ["sub", "exp", "nonce"] { claims[name] = nil }
        claims["jti"] = .string(id)
        claims["events"] = asText ? .string(String(decoding: event.json(), as: UTF8.self)) : event
        return claims
    }
}
