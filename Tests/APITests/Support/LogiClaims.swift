import Foundation
import Testing
import Text

/// The claims that deployed iOS clients decode, as they declare them.
struct LogiClaims: Decodable {
    let sub: String
    let canonicalSub: String?
    let isCanonical: Bool?
    let linkedSubs: [String]?
    let previouslyAnonymous: Bool?
    let email: String?
    let emailVerified: Bool?
    let anonymous: Bool?

    enum CodingKeys: String, CodingKey {
        case sub
        case canonicalSub = "canonical_sub"
        case isCanonical = "is_canonical"
        case linkedSubs = "linked_subs"
        case previouslyAnonymous = "previously_anonymous"
        case email
        case emailVerified = "email_verified"
        case anonymous
    }

    var effectiveSub: String { canonicalSub ?? sub }

    init(token: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let parts = token.split(separator: ".")
        try #require(parts.count == 3, sourceLocation: sourceLocation)
        let payload = try #require(Base64URL.decode(parts[1].utf8), sourceLocation: sourceLocation)
        self = try JSONDecoder().decode(Self.self, from: Data(payload))
    }
}
