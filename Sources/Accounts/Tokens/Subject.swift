package import JSON
package import Time

/// The user behind a grant, as the relying party is told about them now (accounts §2.7, §2.8).
///
/// All data is the canonical user's, except `sub`, `isCanonical` and `previouslyAnonymous`, which depend on the grant.
package struct Subject: Sendable {
    /// How a sub became the canonical user's, for applications that want details.
    package struct LinkedSub: Sendable {
        package var sub: String
        package var mergedVia: String
        package var occurredAt: Timestamp
        /// The event that told the relying party; nil if there was none.
        package var sourceEventID: String?
    }

    /// The grant's sub, which never changes.
    package var sub: String
    package var canonical: User.ID
    package var anonymous: Bool
    package var previouslyAnonymous: Bool
    /// In ascending numeric order, without the canonical sub.
    package var linkedSubs: [LinkedSub]
    package var name: String?
    package var nickname: String?
    /// Nil if there is no address to show.
    package var email: String?
    package var emailVerified: Bool
    package var phoneNumber: String?
    package var address: String?
    package var postalCode: String?
    package var verifiedLevel: Int64
    package var customClaims: JSONValue?
    package var withDetails: Bool
    var lastActiveAt: Timestamp
    /// When the grant was last used.
    var lastUsedAt: Timestamp?

    package var canonicalSub: String { String(canonical.rawValue) }
    package var isCanonical: Bool { sub == canonicalSub }
}

extension Subject {
    package typealias Members = [(String, JSONValue)]

    /// The claims about linked accounts that every id_token and userinfo answer has.
    package func appendIdentityClaims(to claims: inout Members) {
        claims.append(("canonical_sub", .string(canonicalSub)))
        claims.append(("is_canonical", .bool(isCanonical)))
        claims.append(("linked_subs", .array(linkedSubs.map { .string($0.sub) })))
        if withDetails {
            claims.append(("linked_sub_details", .array(linkedSubs.map(\.details))))
        }
        claims.append(("anonymous", .bool(anonymous)))
        claims.append(("previously_anonymous", .bool(previouslyAnonymous)))
    }

    /// The claims of the scope `email` and of custom scopes, for id_tokens and userinfo answers.
    package func appendScopedClaims(_ scopes: Scopes, to claims: inout Members) {
        if scopes.contains("email"), let email {
            claims.append(("email", .string(email)))
            claims.append(("email_verified", .bool(emailVerified)))
        }
        for (scope, namespace, key) in scopes.custom {
            if let value = customClaims?[namespace]?[key], value != .null { claims.append((scope, value)) }
        }
    }
}

extension Subject.LinkedSub {
    /// A merged account's sub is its id.
    fileprivate var details: JSONValue {
        [
            "sub": .string(sub), "merged_canonical_sub": .string(sub), "merged_via": .string(mergedVia),
            "occurred_at": .string(occurredAt.iso8601), "source_event_id": sourceEventID.map { .string($0) } ?? .null,
        ]
    }
}
