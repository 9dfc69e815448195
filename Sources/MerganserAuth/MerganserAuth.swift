public import Foundation
import MerganserClient

/// Signing in with one server, for the whole app. Each member is one call of an `AuthSession`.
public enum MerganserAuth {
    private enum Configured: Sendable {
        case not
        case refused(ConfigurationFault)
        case session(AuthSession)
    }

    private static let configured = Locked(Configured.not)

    /// Says which application signs in at which server. Call it once, first.
    ///
    /// A configuration that cannot work is refused: every other member throws `configurationRefused`, with an explanation.
    ///
    /// - Parameters:
    ///   - config: which application signs in at which server.
    ///   - store: by default the Keychain; on Linux files that only their owner can read.
    ///   - browser: by default the server's app, else the system's browser; on Linux there is none.
    ///   - transport: what carries requests.
    public static func configure(
        _ config: MerganserConfig, store: (any SecureStore)? = nil, browser: (any Browser)? = nil,
        transport: any Transport = URLSessionTransport()
    ) {
        do throws(ConfigurationFault) {
            let session = try AuthSession(
                config, store: store ?? DefaultParts.store, browser: browser ?? DefaultParts.browser,
                transport: transport)
            configured.withLock { $0 = .session(session) }
            Task { await session.start() }
        } catch {
            configured.withLock { [error] in $0 = .refused(error) }
        }
    }

    /// The session that the other members use.
    ///
    /// - Throws: `notConfigured`, `configurationRefused`.
    public static var session: AuthSession {
        get throws {
            switch configured.withLock({ $0 }) {
            case .not: throw MerganserError.notConfigured
            case .refused(let fault): throw MerganserError.configurationRefused(fault)
            case .session(let session): session
            }
        }
    }

    /// Signs a user in: the server's app first, then the system's browser.
    ///
    /// - Throws: as `AuthSession.signIn`.
    @discardableResult
    public static func signIn(prompt: String? = nil, loginHint: String? = nil) async throws -> Session {
        try await session.signIn(prompt: prompt, loginHint: loginHint)
    }

    /// Takes a URL that the system opened the app with, from `.onOpenURL`; false for URLs that are not ours.
    @discardableResult
    public static func handle(_ url: URL) -> Bool { (try? session)?.handle(url) ?? false }

    /// New tokens and claims as of now.
    ///
    /// - Throws: as `AuthSession.refresh`.
    @discardableResult
    public static func refresh() async throws -> Session { try await session.refresh() }

    /// Signs the user out, here or `.everywhere`.
    ///
    /// - Throws: as `AuthSession.signOut`.
    public static func signOut(_ scope: AuthSession.SignOutScope = .local) async throws {
        try await session.signOut(scope)
    }

    /// The refresh token; nil if nobody is signed in.
    ///
    /// - Throws: `storeUnavailable`.
    public static func currentRefreshToken() async throws -> String? { try await session.currentRefreshToken() }

    /// An access token that is valid for at least another minute; refreshed if need be.
    ///
    /// - Throws: as `AuthSession.accessToken`.
    public static func accessToken() async throws -> String { try await session.accessToken() }

    /// The present state, then each new one. Ends at once if the app is not configured.
    public static var states: AsyncStream<SessionState> { (try? session)?.states ?? AsyncStream { $0.finish() } }
}
