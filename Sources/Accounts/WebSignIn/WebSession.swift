package import Time

/// A user's sign-in in a browser (accounts §2.4).
package struct WebSession: Sendable {
    package typealias ID = Identifier<WebSession>

    package var id: ID
    package var user: User
    /// When the user proved who they are: the value of `auth_time`.
    package var authenticatedAt: Timestamp
    var lastUsedAt: Timestamp
    /// Nil of one that began under a release without sids.
    var handle: SessionHandle?

    /// A session ends if it is not used for this time, and at the end of its lifetime in any case.
    static let idleLimit = Duration.seconds(2 * 3600)
    static let lifetime = Duration.seconds(12 * 3600)
    /// For how long a sign-in counts as recent.
    static let recency = Duration.seconds(900)
    /// How exactly its last use is recorded.
    static let useResolution = Duration.seconds(60)
}

extension WebSession {
    /// Whether the user proved a short while ago who they are, as what cannot be taken back and changes of others' accounts
    /// need it (accounts §4.7, §4.8).
    package func isRecent(at now: Timestamp) -> Bool { now <= authenticatedAt + Self.recency }
}

/// The result of a sign-in in a browser.
package enum WebSignIn: Sendable {
    /// - Parameter cookie: opens the session; sent in this answer only.
    case signedIn(cookie: String)
    /// `accountDeleted` or `emailLinkedToOtherIdentity`.
    case refused(Failure)
}
