import Accounts
import HTTP
import JOSE
import JSON
import MariaDB
import OpenSSL
import TestSupport
import Testing
import Text

/// A registered application, with its secret if it has one.
struct TestClient: Sendable {
    let id: Int
    let clientID: String
    let secret: String?
    let redirectURI: String
}

/// Relying parties and people who sign in to them in the server's own app.
final class OAuthScene {
    let app: TestApp
    let client: Client
    private var made: Int

    /// RFC 7636 Appendix B.
    static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

    init(_ app: TestApp, signingKey: Bool = true) throws {
        self.app = app
        made = app.firstNumber
        client = app.client()
        if signingKey { try app.addSigningKey() }
    }

    convenience init() throws { try self.init(TestApp()) }

    /// The server behind nginx has its signing key already.
    convenience init(through doorway: Doorway) throws {
        try self.init(TestApp(through: doorway), signingKey: doorway == .inProcess)
    }

    func next() -> Int {
        made += 1
        return made
    }

    func register(
        _ name: String = "Shop", confidential: Bool = false,
        redirectURIs: [String] = ["com.example.shop://callback"],
        scopes: String = "openid profile:basic email", anonymous: Bool = false, firstParty: Bool = false,
        notified: Bool = false
    ) throws -> TestClient {
        let clientID = "logi_f" + padded(next(), 31)
        let secret = confidential ? "logi_secret_" + padded(next(), 64) : nil
        let id = try app.database.connect().execute(
            """
            INSERT INTO applications (client_id, name, client_type, secret_digest, redirect_uris, allowed_scopes, status,
                                      allow_anonymous_grants, first_party, notify_anonymous_swap)
            VALUES (?, ?, ?, ?, ?, ?, 'active', ?, ?, ?)
            """, clientID, name, confidential ? "confidential" : "public", secret.map { sha256($0.utf8) },
            String(decoding: redirectURIs.json(), as: UTF8.self), scopes, anonymous, firstParty, notified
        ).lastInsertID
        return TestClient(id: id, clientID: clientID, secret: secret, redirectURI: redirectURIs[0])
    }

    /// An identified user on a phone of their own.
    func person(_ subject: String = "subject", email: String? = "bea@example.com") throws -> Phone {
        try client.signIn(app.proof(subject, email: email), on: 1_000_000 + next())
    }

    /// An anonymous user on a phone of their own.
    func anonymous() throws -> Phone { try client.bootstrap(2_000_000 + next()) }

    // MARK: Authorize

    /// The parameters of a valid request, in order.
    func parameters(_ rp: TestClient, scope: String = "openid profile:basic email") -> [(String, String)] {
        [
            ("response_type", "code"), ("client_id", rp.clientID), ("redirect_uri", rp.redirectURI),
            ("scope", scope), ("state", "xyz"), ("code_challenge", Self.challenge),
            ("code_challenge_method", "S256"),
        ]
    }

    /// POST /api/v1/oauth/authorize.
    func authorize(
        _ rp: TestClient, as phone: Phone, scope: String = "openid profile:basic email",
        _ more: KeyValuePairs<String, JSONValue?> = [:]
    ) -> Answer {
        let members = parameters(rp, scope: scope).map { ($0.0, JSONValue.string($0.1)) }
        return client.send(
            .post, "/api/v1/oauth/authorize", JSONValue.object(JSONObject(members)).adding(more), token: phone.token)
    }

    func code(
        _ rp: TestClient, as phone: Phone, scope: String = "openid profile:basic email", nonce: String? = nil
    ) throws -> String {
        let answer = authorize(rp, as: phone, scope: scope, ["nonce": nonce.map { .string($0) }])
        return try #require(answer["code"]?.string, "\(answer)")
    }

    // MARK: Tokens

    /// A form POST. Confidential clients authenticate by Basic.
    ///
    /// - Parameter key: the Idempotency-Key.
    func form(_ path: String, _ form: [(String, String?)], as rp: TestClient?, key: String? = nil) -> FormRequest {
        var headers: [(name: String, value: String)] = [("content-type", "application/x-www-form-urlencoded")]
        if let key { headers.append(("idempotency-key", key)) }
        var form = form
        if let rp, let secret = rp.secret {
            headers.append(("authorization", basic(rp.clientID, secret)))
        } else if let rp {
            form.append(("client_id", rp.clientID))
        }
        return FormRequest(path: path, body: encoded(form), headers: headers)
    }

    func post(_ path: String, _ form: [(String, String?)], as rp: TestClient?, with client: Client? = nil) -> Answer {
        (client ?? self.client).send(self.form(path, form, as: rp))
    }

    func exchange(_ code: String, by rp: TestClient, with client: Client? = nil) -> Answer {
        post("/oauth/token", codeForm(code, of: rp), as: rp, with: client)
    }

    func refresh(
        _ token: String, by rp: TestClient, scope: String? = nil, key: String? = nil, with client: Client? = nil
    ) -> Answer {
        (client ?? self.client).send(form("/oauth/token", refreshForm(token, scope: scope), as: rp, key: key))
    }

    /// Authorize and token at once.
    func signIn(
        _ rp: TestClient, as phone: Phone, scope: String = "openid profile:basic email", nonce: String? = nil
    ) throws -> Tokens {
        try Tokens(exchange(try code(rp, as: phone, scope: scope, nonce: nonce), by: rp))
    }
}

/// What a token answer holds.
struct Tokens {
    let access: String
    let refresh: String
    let id: String?
    let answer: Answer

    init(_ answer: Answer) throws {
        self.answer = answer
        try #require(answer.status == 200, "\(answer)")
        access = try #require(answer["access_token"]?.string)
        refresh = try #require(answer["refresh_token"]?.string)
        id = answer["id_token"]?.string
    }

    var idClaims: Claims { get throws { try JWT(try #require(id)).claims } }
    var accessClaims: Claims { get throws { try JWT(access).claims } }
}

func encoded(_ form: [(String, String?)]) -> [UInt8] {
    Array(
        form.compactMap { name, value in value.map { "\(name)=\(PercentEncoding.encode($0))" } }
            .joined(separator: "&").utf8)
}

func basic(_ clientID: String, _ secret: String) -> String {
    let text = Base64URL.encode(Array("\(clientID):\(secret)".utf8))
    return "Basic " + String(text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
}
