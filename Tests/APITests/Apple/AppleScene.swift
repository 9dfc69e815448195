import API
import Accounts
import Database
import Fetch
import HTTP
import IdentityTokens
import JOSE
import JSON
import MariaDB
import TestSupport
import Testing
import Text
import Time

/// A server with a key for Sign in with Apple, and Apple's token and revocation endpoints.
final class AppleScene {
    typealias Replier = @Sendable (LocalHTTPServer.Request) -> LocalHTTPServer.Reply

    let app: TestApp
    let client: Client
    let apple: LocalHTTPServer
    let statistics = DeliveryStatistics()

    /// - Parameters:
    ///   - workers: the number of threads that the server assumes it has.
    ///   - reply: of the token endpoint, and of the other one.
    init(workers: Int = 64, _ reply: @escaping Replier = AppleScene.usual) throws {
        apple = try LocalHTTPServer(reply)
        app = try TestApp(workers: workers, appleClient: Self.clientSettings(apple))
        client = app.client()
    }

    private static func clientSettings(_ apple: LocalHTTPServer) -> AppleClientSettings {
        var settings = AppleClientSettings(
            teamID: "TEAM", keyID: "KEY", privateKey: TestIssuer.ellipticCurveKey, tokenURL: "\(apple.url)/token",
            revocationURL: "\(apple.url)/revoke", allowsLoopbackHTTP: true)
        settings.timeout = .seconds(60)
        return settings
    }

    /// Another process of the same installation.
    func process(_ serverKey: ServerKey) throws -> TestApp {
        try TestApp(
            database: app.database, appleClient: Self.clientSettings(apple), serverKey: serverKey, time: app.time)
    }

    /// A code is `code-of-` and the subject; the refresh token is `refresh-` and the subject.
    static let usual: Replier = { request in
        guard request.path == "/token" else { return .response() }
        let subject = form(request)["code"].map { $0.replacing("code-of-", with: "") } ?? ""
        var claims = TestIssuer(.apple).claims(subject: subject)
        claims["aud"] = form(request)["client_id"].map(JSONValue.string)
        let token = TestIssuer.token(header: TestIssuer.header(TestIssuer.rsa), claims: claims, TestIssuer.rsa)
        let body: JSONValue = [
            "access_token": "unused", "token_type": "Bearer", "refresh_token": .string("refresh-\(subject)"),
            "id_token": .string(token),
        ]
        return .response(body: body.json())
    }

    static func form(_ request: LocalHTTPServer.Request) -> QueryParameters {
        QueryParameters(String(decoding: request.body, as: UTF8.self))
    }

    /// The forms that came to an endpoint, in order.
    func forms(at path: String) -> [QueryParameters] {
        apple.requests.filter { $0.path == path }.map(Self.form)
    }

    /// What a sign-in with Apple sends.
    func proof(_ subject: String, code: String? = nil) -> JSONValue {
        app.proof(subject).adding([
            "provider": "apple", "authorization_code": .string(code ?? "code-of-\(subject)"),
        ])
    }

    func session(_ subject: String, code: String? = nil) -> Answer {
        client.send(.post, "/api/v1/auth/apple/session", proof(subject, code: code))
    }

    /// The subjects whose identities have a token.
    func kept() throws -> [String] {
        try app.column("SELECT sub FROM identities WHERE apple_token IS NOT NULL ORDER BY sub")
    }

    /// Signs in as a subject whose length is the number of its device.
    func phone(_ subject: String, code: String? = nil) throws -> Phone {
        let body = proof(subject, code: code).adding([
            "device_uuid": .string(uuid(subject.utf8.count)), "platform": "ios",
        ])
        return try Phone(client.send(.post, "/api/v1/auth/apple/session", body))
    }

    /// How many tokens wait for Apple.
    func queue() throws -> Int { try app.count("SELECT COUNT(*) FROM apple_revocations") }

    /// Sends what is due, until nothing is.
    @discardableResult
    func dispatch(with service: Service? = nil) throws -> Int {
        var options = Dispatcher.Options(isDevelopment: true)
        options.transfer.timeout = .seconds(3)
        options.time = { [time = app.time] _ in time.now }
        return try Dispatcher(
            (service ?? app.service).accounts, Database(app.database.options), options, statistics: statistics
        ).runOnce()
    }
}
