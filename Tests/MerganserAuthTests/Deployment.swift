import FaultProxy
import Foundation
import JSON
import MariaDB
import MerganserClient
import TestSupport

@testable import MerganserAuth

/// A server behind nginx behind a proxy, with one application, and the sessions of its clients.
final class Deployment: Sendable {
    let proxy: FaultProxy
    let installation: Installation
    let clientID: String
    private let front: Front
    private let server: ChildProcess

    /// - Parameters:
    ///   - variables: settings of the server.
    ///   - weather: what happens by chance between clients and nginx.
    init(_ variables: [String: String] = [:], weather: FaultProxy.Weather? = nil) throws {
        front = try Front()
        installation = try Installation(
            [
                "MERGANSER_SOCKET": front.run.file("merganser.sock"), "MERGANSER_ISSUER": front.url,
            ].merging(variables) { $1 })
        try installation.directory.link("fastcgi.sock", to: front.run.file("merganser.sock"))
        for word in ["generate", "activate"] {
            let outcome = try installation.tool("signing-key", word)
            guard outcome.exit == .status(0) else { throw TestSupportError(outcome.errorOutput) }
        }
        let made = try installation.tool(
            "application", "create", "--name", "Notes", "--client-type", "public", "--redirect-uri", Self.redirectURI,
            "--allow-anonymous-grants", "--json")
        guard let clientID = try JSONValue(json: Array(made.output.utf8))["client_id"]?.string else {
            throw TestSupportError(made.errorOutput)
        }
        self.clientID = clientID
        server = try installation.readyServer()
        guard let port = URL(string: front.url)?.port.flatMap(UInt16.init(exactly:)) else {
            throw TestSupportError("no port in \(front.url)")
        }
        proxy = try FaultProxy(to: port, weather: weather)
    }

    static let redirectURI = "myapp://oauth/callback"

    /// The proxy's address: clients know the server by it, tokens name nginx's.
    var url: URL { get throws { try Self.url(proxy.url) } }

    static func url(_ text: String) throws -> URL {
        guard let url = URL(string: text) else { throw TestSupportError("no URL: \(text)") }
        return url
    }

    /// Past the proxy: for others than the clients that are tested.
    func connect() throws -> HTTPConnection { try front.connect() }

    /// nginx's address.
    var issuer: String { front.url }

    func config() throws -> MerganserConfig {
        MerganserConfig(
            clientID: clientID, redirectURI: try Self.url(Self.redirectURI), issuer: try url,
            tokenIssuer: try Self.url(front.url))
    }

    /// Of `client-process`.
    ///
    /// - Parameter folder: has the stores.
    func arguments(_ mode: String, _ folder: String, times: Int) throws -> [String] {
        let config = try config()
        return [mode, folder, config.clientID, config.issuer.absoluteString, config.issuerName, "\(times)"]
    }

    /// - Parameters:
    ///   - attempts: how often a request is sent at most.
    func session(
        _ store: any SecureStore, browser: any Browser = NoBrowser(), clock: any DeviceClock = SystemClock(),
        attempts: Int = 1, config: MerganserConfig? = nil
    ) throws -> AuthSession {
        try AuthSession(
            try config ?? self.config(), store: store, browser: browser, transport: URLSessionTransport(), clock: clock,
            backoff: Backoff(base: .milliseconds(10), attempts: attempts))
    }

    func accountSession(
        _ store: any SecureStore = InMemoryStore(), clock: any DeviceClock = SystemClock(), attempts: Int = 1,
        anonymousID: (@Sendable () -> String?)? = nil
    ) throws -> AccountSession {
        try AccountSession(
            issuer: try url, platform: .ios, deviceName: nil, anonymousID: anonymousID, store: store,
            transport: URLSessionTransport(),
            clock: clock, backoff: Backoff(base: .milliseconds(10), attempts: attempts))
    }

    /// The server's own app, where somebody is signed in; a guest without a subject.
    func app(subject: String? = nil) async throws -> AppBrowser {
        let account = try accountSession()
        if let subject {
            try await account.signIn(with: credential(subject))
        } else {
            try await account.bootstrap()
        }
        return AppBrowser(account: account)
    }

    func credential(_ subject: String, email: String? = nil) -> ProviderCredential {
        .apple(
            identityToken: installation.issuer.token(
                subject: subject, nonce: "raw-nonce", email: email, emailVerified: email.map { _ in .bool(true) }),
            nonce: "raw-nonce")
    }

    /// A store where a user is signed in.
    func signedIn(
        subject: String? = "person", store: any SecureStore = InMemoryStore(), clock: any DeviceClock = SystemClock()
    ) async throws -> any SecureStore {
        try await session(store, browser: try await app(subject: subject), clock: clock).signIn()
        return store
    }

    func run(_ sql: String) throws { try installation.database.connect().executeScript(sql) }

    func count(_ sql: StaticString) throws -> Int {
        try installation.database.connect().first(sql) { row in try row.read(Int.self) } ?? 0
    }

    /// How often refresh tokens were rotated and kept.
    func rotations() throws -> Int { try count("SELECT COUNT(*) - 1 FROM refresh_tokens") }

    /// The tokens that were sent to be refreshed, with their keys.
    var refreshes: [(body: String, key: String?)] {
        proxy.exchanges.filter { $0.request.path == "/oauth/token" }.map {
            (String(decoding: $0.request.body, as: UTF8.self), $0.request.header("idempotency-key"))
        }.filter { $0.0.contains("grant_type=refresh_token") }
    }
}

/// The server's own app as the browser: it approves, and the way back is its own.
struct AppBrowser: Browser {
    let account: AccountSession

    func open(_ url: URL, returningTo redirectURI: URL) async throws -> URL? { try await account.authorize(url) }
}

/// A device's clocks that a test sets. Waiting takes as long as it takes.
final class TestDeviceClock: DeviceClock {
    private struct State: Sendable {
        var wrong: TimeInterval
        var passed: Duration = .zero
        var sleeps: [Duration] = []
        var isHeld = false
    }

    private let state: Locked<State>

    /// - Parameter wrong: seconds by which the device's date is ahead.
    init(wrong: TimeInterval = 0) { state = Locked(State(wrong: wrong)) }

    var date: Date { Date() + state.withLock { $0.wrong + $0.passed.seconds } }
    var uptime: Duration { SystemClock().uptime + state.withLock { $0.passed } }
    var sleeps: [Duration] { state.withLock { $0.sleeps } }

    func sleep(for duration: Duration) async throws {
        state.withLock { $0.sleeps.append(duration) }
        try await SystemClock().sleep(for: duration)
        while state.withLock(\.isHeld) { try await SystemClock().sleep(for: .milliseconds(10)) }
    }

    /// Lets nobody wake until `release()`.
    func hold() { state.withLock { $0.isHeld = true } }

    func release() { state.withLock { $0.isHeld = false } }

    /// Time passes.
    func advance(by duration: Duration) { state.withLock { $0.passed += duration } }
    /// Somebody sets the date.
    func set(wrong: TimeInterval) { state.withLock { $0.wrong = wrong } }
}
