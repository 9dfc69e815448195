import Foundation
import HTTP
import IdentityTokens
import JSON
import MariaDB
import TestSupport
import Testing

/// No secret is written anywhere in plain text or in any encoding: not to a table, and not to a log (accounts §0.3).
@Suite struct SecretsTests {
    let app: TestApp
    let scene: SwapScene

    init() throws {
        app = try TestApp()
        scene = try SwapScene(app)
    }

    /// Sends requests and remembers every secret in them and in their answers.
    private final class Recorder {
        private(set) var secrets: Set<String> = []
        private let app: TestApp
        private let client: Client

        init(_ app: TestApp) {
            self.app = app
            client = app.client()
        }

        @discardableResult
        func send(
            _ method: Method, _ path: String, _ body: JSONValue? = nil, token: String? = nil,
            key: String? = nil
        ) -> Answer {
            let answer = client.send(
                method, path, body, token: token, headers: key.map { [("idempotency-key", $0)] } ?? [])
            if let token { secrets.insert(token) }
            for member in [
                "access_token", "device_secret", "swap_ticket", "session_token", "identity_token", "raw_nonce",
            ] {
                for json in [body, answer.json] { if let secret = json?[member]?.string { secrets.insert(secret) } }
            }
            return answer
        }

        @discardableResult
        func post(_ path: String, _ body: JSONValue, token: String? = nil, key: String? = nil) -> Answer {
            send(.post, path, body, token: token, key: key)
        }

        /// The members of a sign-in with an identity token and a nonce of its own.
        func proof(_ subject: String, _ provider: String = "apple", audience: JSONValue? = nil) -> JSONValue {
            let nonce = Data((0..<32).map { _ in UInt8.random(in: 0...255) }).base64EncodedString()
            let token = app.issuer(provider == "apple" ? .apple : .google)
                .token(subject: subject, nonce: nonce, email: "\(subject)@gmail.com", audience: audience)
            return ["provider": .string(provider), "identity_token": .string(token), "raw_nonce": .string(nonce)]
        }

        func phone(_ number: Int) throws -> Phone {
            try Phone(
                post(
                    "/api/v1/devices", ["device_uuid": .string(uuid(number)), "platform": "ios"],
                    key: "the-first-of-\(uuid(number))"))
        }
    }

    @Test func nothingSecretIsWrittenDown() throws {
        let recorder = Recorder(app)
        let b = try scene.identified()
        try liveThroughEverything(recorder, b)
        let inMotion = try Self.leaks(of: recorder.secrets, in: app.database.dump())
        #expect(inMotion == [])
        try failInEveryWay(recorder, b)
        #expect(try Self.leaks(of: recorder.secrets, in: app.database.dump()) == [])

        let log = app.log.lines
        #expect(log.count > 30)
        #expect(Self.leaks(of: recorder.secrets, in: log.joined(separator: "\n")) == [])
        #expect(recorder.secrets.count > 40)
        try theSearchFindsWhatIsThere(recorder)
    }

    /// Every way in which secrets are issued or presented, including stored answers.
    private func liveThroughEverything(_ recorder: Recorder, _ b: IdentifiedUser) throws {
        for proof in SwapScene.Proof.allCases {
            let a = try recorder.phone(scene.next())
            let again: JSONValue = [
                "device_uuid": .string(a.uuid), "platform": "ios", "device_secret": .string(a.secret),
            ]
            recorder.post("/api/v1/devices", again, key: "again-\(a.uuid)")
            let link = recorder.post(
                "/api/v1/me/connected_identities", recorder.proof(b.subject), token: a.token, key: "link")
            let ticket = try #require(link["swap_ticket"])
            let body = proof == .token ? recorder.proof(b.subject) : ["swap_ticket": ticket]
            let swap = "/api/v1/me/anonymous_swap"
            recorder.post(swap, body.adding(["dry_run": true]), token: a.token)
            let first = recorder.post(swap, body, token: a.token, key: "swap")
            #expect(first.status == 200)
            #expect(recorder.post(swap, body, token: a.token, key: "swap").text == first.text)
        }
        let bootstrap = recorder.post(
            "/api/v1/auth/anonymous_bootstrap", ["device_id": .string(uuid(scene.next())), "device_platform": "ios"])
        let promoted = recorder.post(
            "/api/v1/me/connected_identities", recorder.proof("promoted", "google"),
            token: bootstrap["access_token"]?.string)
        #expect(promoted.status == 200)
        let session = recorder.post(
            "/api/v1/auth/google/session",
            recorder.proof("promoted", "google").adding([
                "device_uuid": .string(uuid(scene.next())), "platform": "web",
            ]), key: "session")
        let token = session["access_token"]?.string
        recorder.send(.patch, "/api/v1/me", ["name": "Name", "contact_email": "a@example.com"], token: token)
        recorder.send(.get, "/api/v1/me", token: token)
        // With a copy that the same key gets again.
        let absorbed = try recorder.phone(scene.next())
        let issued = recorder.post(
            "/api/v1/me/merge/session-token", ["idempotency_key": "again"], token: absorbed.token, key: "issue")
        recorder.post("/api/v1/me/merge/session-token", ["idempotency_key": "again"], token: absorbed.token)
        let merge: JSONValue = ["target_session_token": try #require(issued["session_token"])]
        recorder.post("/api/v1/me/merge", merge.adding(["dry_run": true]), token: token)
        let unused = recorder.post("/api/v1/me/merge/session-token", [:], token: try recorder.phone(scene.next()).token)
        #expect(unused.status == 200)
        #expect(recorder.post("/api/v1/me/merge", merge, token: token, key: "merge").status == 200)
        #expect(recorder.send(.delete, "/api/v1/auth/session", token: token).status == 204)
    }

    /// Refusals, and errors that are logged.
    private func failInEveryWay(_ recorder: Recorder, _ b: IdentifiedUser) throws {
        let swap = "/api/v1/me/anonymous_swap"
        let (a, other) = (try recorder.phone(scene.next()), try recorder.phone(scene.next()))
        let foreign: JSONValue = [
            "device_uuid": .string(a.uuid), "platform": "ios", "device_secret": .string(other.secret),
        ]
        #expect(recorder.post("/api/v1/devices", foreign, key: String(repeating: "k", count: 30)).status == 401)
        #expect(recorder.post(swap, recorder.proof(b.subject, audience: "other"), token: a.token).status == 422)
        #expect(recorder.post(swap, recorder.proof("nobody"), token: a.token, key: "nobody").status == 422)
        #expect(recorder.post(swap, ["swap_ticket": .string(a.secret)], token: a.token).status == 422)
        #expect(recorder.post(swap, recorder.proof(b.subject), token: a.secret).status == 401)
        #expect(recorder.send(.get, "/api/v1/\(a.token)", token: a.token).status == 404)
        #expect(recorder.send(.put, "/api/v1/auth/\(a.token)/session").status == 405)

        let failures = try TransientFailures(app)
        for (code, status) in [(1213, 503), (1927, 503), (1644, 500), (1062, 500), (1406, 500)] {
            try failures.fail(1...100_000, with: code)
            #expect(recorder.post(swap, recorder.proof(b.subject), token: a.token, key: "key").status == status)
            #expect(recorder.post("/api/v1/auth/apple/session", recorder.proof("new")).status == status)
            try failures.stop()
        }
    }

    /// Proves that the search can find something: the dump has digests in a form that it looks for.
    private func theSearchFindsWhatIsThere(_ recorder: Recorder) throws {
        let a = try recorder.phone(scene.next())
        #expect(try app.database.dump().contains(TestIssuer.hexDigest(a.token)))
        for form in Self.forms(of: a.token) { #expect(Self.leaks(of: [a.token], in: "…\(form)…") == [a.token]) }
        try scene.db.execute("UPDATE paks SET label = ? WHERE user_id = ?", a.token, a.userID)
        #expect(try Self.leaks(of: recorder.secrets, in: app.database.dump()) == [a.token])
    }

    private static func leaks(of secrets: Set<String>, in text: String) -> [String] {
        secrets.filter { secret in forms(of: secret).contains { text.contains($0) } }.sorted()
    }

    /// Forms of a secret to search for: the text, its random part, and the bytes of that part in hexadecimal and
    /// base64.
    private static func forms(of secret: String) -> [String] {
        let part = secret.split(separator: /\.|lpk_live_|ds_|swt_/).last.map(String.init) ?? secret
        let standard = part.replacing("-", with: "+").replacing("_", with: "/")
        let padded = standard + String(repeating: "=", count: (4 - standard.count % 4) % 4)
        let bytes = [Data(secret.utf8), Data(part.utf8), Data(base64Encoded: padded)].compactMap { $0 }
        return [secret, part, standard]
            + bytes.flatMap { bytes -> [String] in
                let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
                let base64 = bytes.base64EncodedString().filter { $0 != "=" }
                return [hex, hex.uppercased(), base64]
            }
    }
}
