/// Who is signed in (accounts §2.7).
public struct MerganserClaims: Codable, Hashable, Sendable {
    /// The id that this application got at the first consent. It never changes.
    public let sub: String
    /// The account that `sub` belongs to today: after a merge or a swap another one.
    public let canonicalSub: String
    /// Whether `sub` is that account's own.
    public let isCanonical: Bool
    /// Every id that was merged or swapped into the account.
    public let linkedSubs: [String]
    /// Whether the account behind `sub` was once a guest's and no longer is.
    public let previouslyAnonymous: Bool
    /// Whether the account is a guest's.
    public let anonymous: Bool
    /// With scope `email`, if there is one.
    public let email: String?
    /// Whether a provider verified `email`.
    public let emailVerified: Bool?

    /// By which an app looks up its data, always.
    public var effectiveSub: String { canonicalSub }

    enum CodingKeys: String, CodingKey {
        case sub, anonymous, email
        case canonicalSub = "canonical_sub"
        case isCanonical = "is_canonical"
        case linkedSubs = "linked_subs"
        case previouslyAnonymous = "previously_anonymous"
        case emailVerified = "email_verified"
    }

    /// An access token, which tells less, lacks claims that an id_token always has.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let sub = try container.decode(String.self, forKey: .sub)
        let canonicalSub = try container.decodeIfPresent(String.self, forKey: .canonicalSub) ?? sub
        self.sub = sub
        self.canonicalSub = canonicalSub
        isCanonical = try container.decodeIfPresent(Bool.self, forKey: .isCanonical) ?? (sub == canonicalSub)
        linkedSubs = try container.decodeIfPresent([String].self, forKey: .linkedSubs) ?? []
        previouslyAnonymous = try container.decodeIfPresent(Bool.self, forKey: .previouslyAnonymous) ?? false
        anonymous = try container.decodeIfPresent(Bool.self, forKey: .anonymous) ?? false
        email = try container.decodeIfPresent(String.self, forKey: .email)
        emailVerified = try container.decodeIfPresent(Bool.self, forKey: .emailVerified)
    }
}
