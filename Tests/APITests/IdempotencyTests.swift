import Database
import HTTP
import IdentityTokens
import JSON
import MariaDB
import Synchronization
import TestSupport
import Testing
import Threads

/// Repeating a request whose answer was lost (accounts §0.5), on every endpoint but the swap.
@Suite struct IdempotencyTests {
    let app: TestApp
    let client: Client

    init() throws {
        app = try TestApp()
        client = app.client()
    }

    enum Endpoint: CaseIterable {
        case devices, anonymousBootstrap, session, sessionAlias, link
    }

    static let key = "0123456789abcdefghijkl"

    /// A request that succeeds only once. Repeated without a key, it would get another answer.
    private func request(_ endpoint: Endpoint, key: String? = key) throws -> RepeatableRequest {
        let headers = key.map { [(name: "idempotency-key", value: $0)] } ?? []
        let device: JSONValue = ["device_uuid": .string(uuid(1)), "platform": "ios"]
        return switch endpoint {
        case .devices: RepeatableRequest(method: .post, path: "/api/v1/devices", body: device, headers: headers)
        case .anonymousBootstrap:
            RepeatableRequest(
                method: .post, path: "/api/v1/auth/anonymous_bootstrap",
                body: ["device_id": .string(uuid(1)), "device_platform": "ios"], headers: headers)
        case .session, .sessionAlias:
            RepeatableRequest(
                method: .post, path: (endpoint == .session ? "/api/v1" : "") + "/auth/apple/session",
                body: app.proof().adding(["device_uuid": .string(uuid(1)), "platform": "ios"]), headers: headers)
        case .link:
            RepeatableRequest(
                method: .post, path: "/api/v1/me/connected_identities", body: app.proof().adding(["provider": "apple"]),
                token: try client.bootstrap(2).token, headers: headers)
        }
    }

    private func records() throws -> Int { try app.count("SELECT COUNT(*) FROM idempotency_records") }

    /// The answer without the parts that differ for each request.
    private func stored(_ answer: Answer) -> Response {
        var response = answer.response
        response.headers.removeAll {
            ["X-Request-Id", "X-Logi-Request-Id", "Idempotency-Replayed"].contains($0.name)
        }
        return response
    }

    private func expectReplayed(
        _ answer: Answer, _ first: Answer, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(answer.header("Idempotency-Replayed") == "true", "\(answer)", sourceLocation: sourceLocation)
        #expect(stored(answer) == stored(first), sourceLocation: sourceLocation)
    }

    // MARK: Replay

    @Test(arguments: Endpoint.allCases)
    func aRepeatedRequestGetsTheSameBytesAndChangesNothing(_ endpoint: Endpoint) throws {
        let request = try request(endpoint)
        let first = client.send(request)
        #expect(first.status == 200 && first.header("Idempotency-Replayed") == nil)
        try app.expectUnchanged {
            app.time.advance(by: .milliseconds(599_999))
            for _ in 1...2 { expectReplayed(app.client().send(request), first) }
        }
        let ids = [first, client.send(request)].map { $0.header("X-Request-Id") }
        #expect(ids[0] != ids[1])
    }

    @Test(arguments: Endpoint.allCases)
    func afterTenMinutesTheKeyIsFree(_ endpoint: Endpoint) throws {
        let request = try request(endpoint)
        #expect(client.send(request).status == 200)
        app.time.advance(by: .seconds(600))
        let again = client.send(request)
        #expect(again.header("Idempotency-Replayed") == nil)
        let expected =
            switch endpoint {
            case .devices, .anonymousBootstrap: refusal(401, "invalid_device_secret")
            case .session, .sessionAlias, .link: "200"
            }
        #expect("\(again)".hasPrefix(expected), "\(again)")
        guard again.status == 200 else { return }
        // And taken anew, though the identity token has expired meanwhile.
        app.time.advance(by: .seconds(599))
        expectReplayed(client.send(request), again)
    }

    @Test(arguments: Endpoint.allCases)
    func anotherRequestUnderTheKeyIsRefused(_ endpoint: Endpoint) throws {
        let request = try request(endpoint)
        #expect(client.send(request).status == 200)
        var others = [request, request]
        others[0].body = request.body?.adding(["unknown": 1])
        others[1].headers.append(("if-match", "*"))
        if endpoint == .session {
            others.append(request)
            others[2].path = "/auth/apple/session"
        }
        try app.expectUnchanged {
            for other in others { #expect("\(client.send(other))" == refusal(422, "idempotency_key_reused")) }
        }
        expectReplayed(client.send(request), client.send(request))
    }

    /// The bytes count, not their meaning.
    @Test func theFingerprintIsOverTheRawBody() throws {
        let body = Array(#"{"device_uuid":"\#(uuid(1))","platform":"ios"}"#.utf8)
        let headers = [(name: "idempotency-key", value: Self.key)]
        func send(_ bytes: [UInt8]) -> Answer { client.send(.post, "/api/v1/devices", bytes: bytes, headers: headers) }
        #expect(send(body).status == 200)
        #expect("\(send(body + [0x20]))" == refusal(422, "idempotency_key_reused"))
        #expect(send(body).header("Idempotency-Replayed") == "true")
    }

    // MARK: Whose key it is

    @Test(arguments: Endpoint.allCases)
    func aKeyIsItsCallersOwn(_ endpoint: Endpoint) throws {
        let request = try request(endpoint)
        #expect(client.send(request).status == 200)
        var other = request
        switch endpoint {
        case .devices: other.body = request.body?.adding(["device_uuid": .string(uuid(9))])
        case .anonymousBootstrap: other.body = request.body?.adding(["device_id": .string(uuid(9))])
        case .session, .sessionAlias:
            other.body = app.proof("other").adding(["device_uuid": .string(uuid(9)), "platform": "ios"])
        case .link:
            other.token = try client.bootstrap(3).token
            other.body = app.proof("other").adding(["provider": "apple"])
        }
        let answer = client.send(other)
        #expect(answer.status == 200 && answer.header("Idempotency-Replayed") == nil, "\(answer)")
        #expect(try records() == 2)
    }

    @Test func aDevicesKeyIsThatOfItsUUIDInAnyCaseAndItsSecret() throws {
        let first = client.send(try request(.devices))
        var lowerCase = try request(.devices)
        lowerCase.body = lowerCase.body?.adding(["device_uuid": .string(uuid(1).lowercased())])
        // The same credential, but not the same bytes.
        #expect("\(client.send(lowerCase))" == refusal(422, "idempotency_key_reused"))
        // Another credential, so another key.
        var withSecret = try request(.devices)
        withSecret.body = withSecret.body?.adding(["device_secret": first["device_secret"]])
        let second = client.send(withSecret)
        #expect(second.status == 200 && second["access_token"] != first["access_token"])
        expectReplayed(client.send(withSecret), second)
    }

    @Test func theBearerTokenIsTheCredentialWhereverThereIsOne() throws {
        let (one, other) = (try client.bootstrap(5), try client.bootstrap(6))
        for endpoint in [Endpoint.devices, .session] {
            var request = try request(endpoint)
            request.token = one.token
            let first = client.send(request)
            #expect(first.status == 200)
            expectReplayed(client.send(request), first)
            // Under the same bearer token the key is taken for every body,
            var changed = request
            changed.body = changed.body?.adding(["device_uuid": .string(uuid(7))])
            #expect("\(client.send(changed))" == refusal(422, "idempotency_key_reused"))
            // under another one, or none, it is free.
            for token in [other.token, nil] {
                request.token = token
                #expect(client.send(request).header("Idempotency-Replayed") == nil)
            }
            try app.change("DELETE FROM idempotency_records")
            try app.change("DELETE FROM devices WHERE device_uuid = ?", uuid(1))
        }
    }

    @Test func anAnswerOutlivesItsCredential() throws {
        let request = try request(.link)
        let first = client.send(request)
        #expect(first.status == 200)
        #expect(client.send(.delete, "/api/v1/auth/session", token: request.token).status == 204)
        expectReplayed(client.send(request), first)
        // Without a stored answer the credential counts.
        var other = request
        other.headers = [("idempotency-key", "another")]
        #expect("\(client.send(other))" == refusal(401, "invalid_token"))
        other.headers = request.headers
        other.body = [:]
        #expect("\(client.send(other))" == refusal(422, "idempotency_key_reused"))
        try app.change("DELETE FROM users")
        expectReplayed(client.send(request), first)
    }

    // MARK: The key

    @Test(arguments: Endpoint.allCases)
    func aKeyIsVisibleASCII(_ endpoint: Endpoint) throws {
        let isBootstrap = [.devices, .anonymousBootstrap].contains(endpoint)
        var request = try request(endpoint)
        let tooShort = isBootstrap ? [String(repeating: "k", count: 21)] : []
        let others = ["", " ", "a b", "é", "\u{7F}", "\t", String(repeating: "k", count: 256)] + tooShort
        let padding = isBootstrap ? String(repeating: "k", count: 21) : ""
        try app.expectUnchanged {
            for key in others {
                request.headers = [("idempotency-key", key)]
                #expect("\(client.send(request))" == refusal(400, "invalid_request"), "\(key)")
            }
            for key in [" ", "a b", "é", "\u{7F}"] {
                request.headers = [("idempotency-key", padding + key)]
                #expect("\(client.send(request))" == refusal(400, "invalid_request"), "\(key)")
            }
            // Before the credential.
            if endpoint == .link {
                request.token = nil
                #expect("\(client.send(request))" == refusal(400, "invalid_request"))
            }
        }
        let shortest = padding + "~"
        for key in [shortest, String(repeating: "!", count: 255)] {
            try app.change("DELETE FROM users")
            request = try self.request(endpoint, key: key)
            let first = client.send(request)
            #expect(first.status == 200, "\(key)")
            expectReplayed(client.send(request), first)
        }
    }

    @Test func otherEndpointsTakeNoKey() throws {
        let phone = try client.bootstrap()
        for key in [Self.key, "not visible", ""] {
            let headers = [(name: "idempotency-key", value: key)]
            let answer = client.send(.patch, "/api/v1/me", ["name": .string(key)], token: phone.token, headers: headers)
            #expect(answer["user"]?["name"] == .string(key))
            #expect(client.send(.get, "/api/v1/me", token: phone.token, headers: headers).status == 200)
        }
        #expect(try records() == 0)
    }

    // MARK: What is stored

    @Test(arguments: Endpoint.allCases)
    func theStoredAnswerIsEncrypted(_ endpoint: Endpoint) throws {
        let answer = client.send(try request(endpoint))
        let secrets = ["access_token", "device_secret"].compactMap { answer[$0]?.string }
        #expect(secrets.isEmpty == (endpoint == .link))
        let row = try app.database.connect().first(
            "SELECT answer, caller_digest, LENGTH(answer) FROM idempotency_records"
        ) { row in (try row.read([UInt8].self), try row.read([UInt8].self), try row.read(Int.self)) }
        let (stored, caller, length) = try #require(row)
        #expect(length >= answer.response.body.count && caller.count == 32)
        let text = String(decoding: stored, as: UTF8.self)
        for fragment in secrets + ["user", "Content-Type", "access_token"] { #expect(!text.contains(fragment)) }
    }

    @Test func theTicketOfA409IsStored() throws {
        _ = try client.signIn(app.proof(), on: 1)
        let request = try request(.link, key: "k")
        let first = client.send(request)
        #expect(first.status == 409 && first["swap_ticket"] != nil)
        try app.expectUnchanged { expectReplayed(client.send(request), first) }
        #expect(try app.count("SELECT COUNT(*) FROM swap_tickets") == 1)
    }

    @Test func otherFailuresStoreNothingAndLeaveTheKeyFree() throws {
        let owner = try client.signIn(app.proof("owned"), on: 1)
        let caller = try client.signIn(app.proof("caller"), on: 3)
        let claimed = app.proof("new").adding(["device_uuid": .string(owner.uuid), "platform": "ios"])
        let wrongSecret: JSONValue = [
            "device_uuid": .string(owner.uuid), "platform": "ios", "device_secret": "ds_wrong",
        ]
        let link = "/api/v1/me/connected_identities"
        let failures: [(Method, String, JSONValue, String?, Int)] = [
            (.post, "/api/v1/devices", wrongSecret, nil, 401), (.post, "/api/v1/devices", [:], nil, 400),
            (.post, "/auth/apple/session", claimed, nil, 409), (.post, "/auth/x/session", claimed, nil, 422),
            (.post, link, app.proof("owned").adding(["provider": "apple"]), caller.token, 409),
            (.post, link, app.proof("second").adding(["provider": "apple"]), caller.token, 422),
            (.post, link, app.proof("second").adding(["provider": "apple"]), "lpk_live_unknown", 401),
            (.post, link, [:], caller.token, 422), (.post, link, [:], nil, 401),
        ]
        let headers = [(name: "idempotency-key", value: Self.key)]
        try app.expectOnlyRefusals(2, of: owner.userID) {
            for (method, path, body, token, status) in failures {
                for _ in 1...2 {
                    let answer = client.send(method, path, body, token: token, headers: headers)
                    #expect(answer.status == status && answer.header("Idempotency-Replayed") == nil, "\(answer)")
                }
            }
        }
        #expect(try records() == 0)
        let google = app.proof(of: .google).adding(["provider": "google"])
        #expect(client.send(.post, link, google, token: caller.token, headers: headers).status == 200)
    }

    // MARK: Two copies at once

    @Test(arguments: Endpoint.allCases)
    func concurrentCopiesHaveOneEffect(_ endpoint: Endpoint) throws {
        for round in 1...5 {
            let request = try request(endpoint, key: Self.key + "\(round)")
            let answers = app.atOnce(8) { client, _ in client.send(request) }
            let first = try #require(answers.first { $0.header("Idempotency-Replayed") == nil }, "\(answers)")
            #expect(first.status == 200)
            #expect(answers.filter { $0.header("Idempotency-Replayed") == nil }.count == 1)
            for answer in answers { #expect(stored(answer) == stored(first)) }
            #expect(try records() == round)
            try app.change("DELETE FROM users")
        }
    }

    /// The first copy holds its transaction open until the second waits for the key's row.
    @Test func aSecondCopyWaitsForTheFirst() throws {
        let request = try request(.devices)
        let gate = try app.database.connect()
        try gate.executeScript(
            """
            CREATE TRIGGER gate BEFORE INSERT ON users FOR EACH ROW SET @gate = GET_LOCK(CONCAT(DATABASE(), '.gate'), 30);
            DO GET_LOCK(CONCAT(DATABASE(), '.gate'), 0)
            """)
        let answers = Mutex<[Answer]>([])
        func start() -> Thread {
            Thread { [app] in
                let answer = app.client().send(request)
                answers.withLock { $0.append(answer) }
            }
        }
        let first = start()
        try app.waitUntil("SELECT COUNT(*) FROM information_schema.processlist WHERE db = ? AND state = 'User lock'")
        let second = start()
        try app.waitForALockWait()
        #expect(answers.withLock { $0.isEmpty })
        try gate.executeScript("DO RELEASE_LOCK(CONCAT(DATABASE(), '.gate'))")
        first.join()
        second.join()
        let both = answers.withLock { $0 }
        #expect(both.map(\.status) == [200, 200])
        #expect(both.map(\.text)[0] == both.map(\.text)[1])
        #expect(both.count { $0.header("Idempotency-Replayed") == "true" } == 1)
        #expect(app.statistics.exhaustions.value == 0)
    }

    /// If a copy finds its credential revoked, it looks for a stored answer once more, because the first copy may have
    /// committed meanwhile.
    @Test func beforeARefusalTheRecordsAreReadAgain() throws {
        let request = try request(.link)
        let first = client.send(request)
        #expect(first.status == 200)
        try app.change("UPDATE paks SET revoked_at = NOW()")
        // As the first look-up saw it: the record appears only once the PAK has been looked up, by a statement that the
        // refused copy itself runs.
        try app.change("RENAME TABLE idempotency_records TO kept_records")
        try app.change("CREATE TABLE looked_up (n INT) ENGINE = MEMORY")
        try app.database.connect().executeScript(
            """
            CREATE FUNCTION looked_up() RETURNS INT NOT DETERMINISTIC MODIFIES SQL DATA
            BEGIN
                INSERT INTO looked_up VALUES (1);
                RETURN (SELECT COUNT(*) FROM looked_up);
            END;
            CREATE VIEW idempotency_records AS SELECT * FROM kept_records WHERE looked_up() > 1;
            """)
        let answer = client.send(request)
        #expect(try app.count("SELECT COUNT(*) FROM looked_up") == 2)
        expectReplayed(answer, first)
    }
}
