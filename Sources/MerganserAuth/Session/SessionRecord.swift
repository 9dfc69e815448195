import Foundation

/// What an `AuthSession` stores, in one write.
struct SessionRecord: Codable, Hashable, Sendable {
    /// Counts the credentials that were stored here: rises when one is replaced or removed.
    private(set) var generation = 0
    /// Counts sign-ins, and the sign-outs that were asked for.
    private(set) var signIns = 0
    private(set) var tokens: Tokens?
    /// The refresh token of a former SDK, until its first refresh gives `tokens`.
    private(set) var adopted: String?
    /// Why the last one who was signed in no longer is.
    private(set) var reason = SignedOutReason.neverSignedIn
    /// The refresh of `tokens` that is under way.
    private(set) var pending: PendingRequest?
    /// Who asks the server for that refresh.
    private(set) var flights: [Flight] = []
    /// Refresh tokens that are still to be revoked.
    var revocations: [String] = []
    /// Server time minus the device's, in seconds.
    var clockOffset: TimeInterval = 0

    struct Tokens: Codable, Hashable, Sendable {
        var accessToken: String
        var refreshToken: String
        var idToken: String?
        var scopes: [String]
        var claims: MerganserClaims
        /// The end of the access token, in server time.
        var expiry: Date

        var session: Session {
            Session(
                claims: claims, accessToken: accessToken, refreshToken: refreshToken, idToken: idToken, scopes: scopes)
        }
    }

    /// A request that is under way in this process or another.
    ///
    /// When it arrives late, its refresh token must still be the last one but one, else the server takes it for stolen
    /// (accounts §2.6). So nobody uses the successor before every flight has ended, or must have.
    struct Flight: Codable, Hashable, Sendable {
        var id: String
        /// Device time, which all processes that share the record share.
        var end: Date
        /// In seconds, of the process that departed: another one may have another time-out.
        var length: TimeInterval
    }

    init() {}

    init(adopting refreshToken: String) { adopted = refreshToken }

    /// What is worth new tokens; nil if nobody is signed in.
    var refreshToken: String? { tokens?.refreshToken ?? adopted }

    var state: SessionState {
        guard let tokens else { return adopted == nil ? .signedOut(reason) : .unknown(.adopted) }
        return tokens.claims.anonymous ? .guest(tokens.claims) : .known(tokens.claims)
    }

    /// Whether the same user is signed in.
    func isOfUser(of other: SessionRecord) -> Bool {
        tokens != nil && tokens?.claims.sub == other.tokens?.claims.sub
    }

    mutating func signIn(_ tokens: Tokens) {
        signIns += 1
        reason = .requested
        rotate(to: tokens)
    }

    mutating func rotate(to tokens: Tokens) {
        self.tokens = tokens
        credentialChanged()
    }

    mutating func signOut(_ reason: SignedOutReason) {
        if reason == .requested { signIns += 1 }
        tokens = nil
        self.reason = reason
        credentialChanged()
    }

    private mutating func credentialChanged() {
        generation += 1
        adopted = nil
        pending = nil
    }

    mutating func begin(_ request: PendingRequest) { pending = request }

    /// - Parameter longest: seconds after which the flight has ended, whatever became of its process.
    mutating func depart(_ id: String, now: Date, longest: TimeInterval) {
        flights.removeAll { $0.id == id || !Self.isUnderWay($0, now: now) }
        flights.append(Flight(id: id, end: now + longest, length: longest))
    }

    mutating func arrive(_ id: String) { flights.removeAll { $0.id == id } }

    /// Whether a flight lasts for so many seconds more.
    func isUnderWay(_ id: String, for time: TimeInterval, now: Date) -> Bool {
        flights.contains { $0.id == id && $0.end >= now + time && Self.isUnderWay($0, now: now) }
    }

    func isAnyoneUnderWay(now: Date) -> Bool { flights.contains { Self.isUnderWay($0, now: now) } }

    /// A clock that was set back a little makes a flight longer. One that begins long after now is of another time.
    private static func isUnderWay(_ flight: Flight, now: Date) -> Bool {
        flight.end > now && flight.end <= now + 2 * flight.length
    }
}
