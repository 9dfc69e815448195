/// A signed-in user, as of one answer of the server.
public struct Session: Hashable, Sendable {
    /// Who it is.
    public let claims: MerganserClaims
    /// For the app's own server and the user-info endpoint; 15 minutes. `AuthSession.accessToken` has a fresh one.
    public let accessToken: String
    /// Worth new tokens, once.
    public let refreshToken: String
    /// With scope `openid`; verified.
    public let idToken: String?
    /// What was granted.
    public let scopes: [String]
}

// Tokens stay out of logs.
extension Session: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "Session(sub: \(claims.sub), scopes: \(scopes))" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["claims": claims, "scopes": scopes]) }
}

/// Who is signed in, as far as it is known.
public enum SessionState: Hashable, Sendable {
    /// The store cannot tell: before the first unlock, or because it cannot be read. Nobody has been signed out.
    case unknown(StoreFault)
    /// Nobody is signed in.
    case signedOut(SignedOutReason)
    /// A user without a sign-in of their own.
    case guest(MerganserClaims)
    /// A user with a sign-in of their own.
    case known(MerganserClaims)
}
