internal import JOSE
import JSON
internal import Text
package import Time

/// What Apple's server says of a person's account there (accounts §4.5).
package struct AppleNotification: Equatable, Sendable {
    package enum Kind: String, Sendable {
        case consentRevoked = "consent-revoked"
        case accountDelete = "account-delete"
        /// The older name of the same.
        case accountDeleted = "account-deleted"
        case emailDisabled = "email-disabled"
        case emailEnabled = "email-enabled"
    }

    /// `jti`
    package var id: String
    /// Nil: one that this server does not know.
    package var kind: Kind?
    package var subject: String
    /// By Apple's clock, as the `iat` of identity tokens.
    package var occurredAt: Timestamp
    /// Until when the same token would be accepted again.
    package var acceptedUntil: Timestamp
}

extension AppleNotification {
    private static let leeway = Duration.seconds(60)
    /// For how long a token without `exp` is accepted.
    private static let lifetime = Duration.seconds(86_400)

    /// Reads claims whose signature, issuer and audience are valid.
    init(_ claims: Claims, now: Timestamp) throws(InvalidIdentityToken) {
        guard let issuedAt = claims.numericDate("iat").map(Timestamp.init(numericDate:)),
            issuedAt <= now + Self.leeway
        else { throw InvalidIdentityToken(.notYetValid) }
        if claims["exp"] == nil {
            acceptedUntil = issuedAt + Self.lifetime + Self.leeway
        } else {
            guard let expiry = claims.numericDate("exp").map(Timestamp.init(numericDate:)) else {
                throw InvalidIdentityToken(.expired)
            }
            acceptedUntil = expiry + Self.leeway
        }
        guard now < acceptedUntil else { throw InvalidIdentityToken(.expired) }
        if claims["nbf"] != nil {
            guard let notBefore = claims.numericDate("nbf").map(Timestamp.init(numericDate:)),
                notBefore <= now + Self.leeway
            else { throw InvalidIdentityToken(.notYetValid) }
        }
        let written = claims["events"]?.string.flatMap { try? JSONValue(json: Array($0.utf8)) }
        let event = written ?? claims["events"]
        guard let id = claims.string("jti"), (1...255).contains(id.utf8.count), let kind = event?["type"]?.string,
            let subject = event?["sub"]?.string, (1...255).contains(subject.utf8.count)
        else { throw InvalidIdentityToken(.malformedToken) }
        // What says nothing of its time was sent at once; nothing is told of before it happens.
        occurredAt = min(event?["event_time"].flatMap(Timestamp.init(eventTime:)) ?? issuedAt, issuedAt)
        self.id = id
        self.kind = Kind(rawValue: kind)
        self.subject = subject
    }
}

extension Timestamp {
    /// At most what the database stores: some days before the year 10 000.
    fileprivate init(numericDate seconds: Double) {
        self.init(milliseconds: Int64(max(0, min(seconds, 253_402_000_000)) * 1000))
    }

    /// Apple sends milliseconds, and documents seconds. 10¹¹ of these are the year 5138, of those the year 1973.
    fileprivate init?(eventTime value: JSONValue) {
        let time: Double
        switch value {
        case .integer(let number): time = Double(number)
        case .number(let number) where number.isFinite: time = number
        default: return nil
        }
        self.init(numericDate: time < 1e11 ? time : time / 1000)
    }
}
