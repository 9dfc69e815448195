package import Time

/// A person signed in in a browser (accounts §2.4).
package struct WebSession: Sendable {
    package typealias ID = Identifier<WebSession>

    package var id: ID
    package var user: User
    /// When the person proved who they are: the value of `auth_time`.
    package var authenticatedAt: Timestamp
    var lastUsedAt: Timestamp

    /// It ends after that time without use, and after the lifetime in any case.
    static let idleLimit = Duration.seconds(2 * 3600)
    static let lifetime = Duration.seconds(12 * 3600)
    /// How exactly its use is noted.
    static let useResolution = Duration.seconds(60)
}

/// What came of a sign-in in a browser.
package enum WebSignIn: Sendable {
    /// - Parameter cookie: opens the session; shown in this answer only.
    case signedIn(cookie: String)
    /// `accountDeleted` or `emailLinkedToOtherIdentity`.
    case refused(Failure)
}
