import HTTP
import JSON
import Testing

/// Devices, sessions, identities and the profile (accounts §1.2 to §1.7).
@Suite struct AccountRouteTests {
    private struct Scene {
        let app: TestApp
        let client: Client

        init(through doorway: Doorway) throws {
            app = try TestApp(through: doorway)
            client = app.client()
        }

        /// - Parameter number: of the phone in its test.
        func phone(_ number: Int = 1) throws -> Phone { try client.bootstrap(app.firstNumber + number) }

        func signIn(_ proof: JSONValue, on number: Int) throws -> Phone {
            try client.signIn(proof, on: app.firstNumber + number)
        }

        func bootstrap(_ uuid: String, _ platform: String = "ios", secret: String? = nil) -> Answer {
            let body: JSONValue = ["device_uuid": .string(uuid), "platform": .string(platform)]
            return client.send(
                .post, "/api/v1/devices", body.adding(["device_secret": secret.map(JSONValue.string)]))
        }

        func link(_ proof: JSONValue, to phone: Phone) -> Answer {
            client.send(
                .post, "/api/v1/me/connected_identities", proof.adding(["provider": "apple"]), token: phone.token)
        }

        func me(_ phone: Phone) -> Answer { client.send(.get, "/api/v1/me", token: phone.token) }
    }

    @Test(arguments: Doorway.allCases) func aDeviceIsKnownByItsSecret(through doorway: Doorway) throws {
        let scene = try Scene(through: doorway)
        let phone = try scene.phone()
        #expect(scene.me(phone)["user"]?["id"]?.integer == phone.userID)
        #expect(scene.me(phone)["user"]?["anonymous"] == true)
        for spelling in [phone.uuid, phone.uuid.lowercased(), phone.uuid.uppercased()] {
            for secret in [nil, "", "ds_", phone.secret + "x"] {
                #expect("\(scene.bootstrap(spelling, secret: secret))" == refusal(401, "invalid_device_secret"))
            }
            let answer = scene.bootstrap(spelling, secret: phone.secret)
            #expect(answer.status == 200 && answer["device_secret"] == nil)
            #expect(answer["device"]?["device_uuid"] == .string(phone.uuid), "as first registered")
            #expect(answer["user"]?["id"]?.integer == phone.userID)
            #expect(answer["access_token"]?.string != phone.token)
        }
        #expect(scene.me(phone).status == 200, "the first PAK stays valid")
        #expect("\(scene.bootstrap("x"))" == refusal(400, "invalid_request"))
        #expect("\(scene.bootstrap(uuid(scene.app.firstNumber), "windows"))" == refusal(422, "unknown_platform"))
    }

    @Test(arguments: Doorway.allCases) func aBodyOf64KiBIsTakenAndNoLargerOne(through doorway: Doorway) throws {
        let scene = try Scene(through: doorway)
        let members = #","device_uuid":"\#(uuid(scene.app.firstNumber))","platform":"ios"}"#
        func answer(_ size: Int, _ method: HTTP.Method = .post, _ path: String = "/api/v1/devices") -> Answer {
            let start = #"{"padding":""#
            let padding = String(repeating: "x", count: size - start.utf8.count - members.utf8.count - 1)
            return scene.client.send(method, path, bytes: Array("\(start)\(padding)\"\(members)".utf8))
        }
        #expect(answer(65_536).status == 200)
        #expect("\(answer(65_537))" == refusal(413, "payload_too_large"))
        #expect("\(answer(65_537, .put))" == refusal(405, "method_not_allowed"))
        #expect("\(answer(65_537, .post, "/api/v1/nothing"))" == refusal(404, "not_found"))
    }

    @Test(arguments: Doorway.allCases) func everyAnswerCarriesTheRequestIDAndIsNotStored(
        through doorway: Doorway
    ) throws {
        let scene = try Scene(through: doorway)
        let (client, token) = (scene.client, try scene.phone().token)
        let answers = [
            client.send(.get, "/api/v1/me", token: token), client.send(.get, "/api/v1/me"),
            client.send(.get, "/nothing"), client.send(.get, "/api/v1/devices"),
            client.send(.post, "/api/v1/devices", bytes: Array(repeating: 0x20, count: 65_537)),
            client.send(.post, "/api/v1/devices", bytes: [1]),
            client.send(.delete, "/api/v1/auth/session", token: token),
        ]
        #expect(answers.map(\.status) == [200, 401, 404, 405, 413, 400, 204])
        for answer in answers {
            #expect(answer.header("X-Request-Id")?.wholeMatch(of: /[0-9a-f]{32}/) != nil)
            #expect(answer.header("X-Logi-Request-Id") == answer.header("X-Request-Id"))
            #expect(answer.header("Cache-Control") == "no-store")
            let names = answer.response.headers.map { $0.name.lowercased() }
            #expect(Set(names).count == names.count, "\(names)")
        }
        #expect(Set(answers.map { $0.header("X-Request-Id") }).count == answers.count)
    }

    @Test(arguments: Doorway.allCases) func unknownPathsAreNotFound(through doorway: Doorway) throws {
        let client = try TestApp(through: doorway).client()
        for path in [
            "/", "/api", "/api/v1", "/api/v1/device", "/api/v1/devices/", "/api/v1//devices", "/API/v1/devices",
            "/api/v1/Devices", "/api/v1/me/", "/api/v1/auth//session", "/api/v1/auth/apple/session/",
            "/api/v1/auth/apple/google/session", "/auth//session", "/auth/session",
            "/api/v1/me/connected_identities/", "/api/v1/me/connected_identities/apple/x", "/oauth",
            "/api/v1/dévices",
        ] {
            for method in [HTTP.Method.get, .post, .delete] {
                #expect("\(client.send(method, path))" == refusal(404, "not_found"), "\(method.rawValue) \(path)")
            }
        }
    }

    @Test(arguments: Doorway.allCases) func otherMethodsAreNotAllowed(through doorway: Doorway) throws {
        let client = try TestApp(through: doorway).client()
        let paths = [
            ("/api/v1/devices", "POST"), ("/api/v1/auth/anonymous_bootstrap", "POST"),
            ("/api/v1/auth/apple/session", "POST"), ("/auth/apple/session", "POST"), ("/auth/nobody/session", "POST"),
            ("/api/v1/auth/session", "DELETE"), ("/api/v1/me", "DELETE, GET, HEAD, PATCH"),
            ("/api/v1/me/connected_apps", "GET, HEAD"), ("/api/v1/me/connected_apps/logi_0", "DELETE"),
            ("/api/v1/me/connected_identities", "GET, HEAD, POST"), ("/api/v1/me/connected_identities/apple", "DELETE"),
            ("/api/v1/me/anonymous_swap", "POST"),
        ]
        // nginx itself refuses what is not in capital letters.
        let odd = doorway == .inProcess ? ["post", ""] : []
        for (path, allowed) in paths {
            for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW"] + odd
            where !allowed.split(separator: ", ").contains(Substring(method)) {
                let answer = client.send(Method(rawValue: method), path)
                // That no body follows HEAD is the connection's business.
                let hasBody = doorway == .inProcess || method != "HEAD"
                #expect(
                    "\(answer)" == (hasBody ? refusal(405, "method_not_allowed") : "405"), "\(method) \(path)")
                #expect(answer.header("Allow") == allowed, "\(method) \(path)")
            }
        }
    }

    @Test(arguments: Doorway.allCases) func aRepeatedBootstrapMakesOneDevice(through doorway: Doorway) throws {
        let scene = try Scene(through: doorway)
        let request = RepeatableRequest(
            method: .post, path: "/api/v1/devices",
            body: ["device_uuid": .string(uuid(scene.app.firstNumber)), "platform": "ios"],
            headers: [("idempotency-key", "0123456789abcdefghijkl")])
        let (first, second) = (scene.client.send(request), scene.client.send(request))
        #expect(first.status == 200 && first.header("Idempotency-Replayed") == nil)
        #expect("\(second)" == "\(first)" && second.header("Idempotency-Replayed") == "true")
    }

    @Test(arguments: Doorway.allCases) func aPersonSignsInOnTwoPhonesAndOutOnOne(through doorway: Doorway) throws {
        let scene = try Scene(through: doorway)
        let first = try scene.signIn(scene.app.proof("ada"), on: 1)
        let second = try scene.signIn(scene.app.proof("ada"), on: 2)
        #expect(second.userID == first.userID && second.deviceID != first.deviceID)
        let alias = scene.client.send(.post, "/auth/apple/session", scene.app.proof("ada"))
        #expect(alias["user"]?["id"]?.integer == first.userID)

        #expect("\(scene.client.send(.delete, "/api/v1/auth/session", token: first.token))" == "204")
        #expect("\(scene.me(first))" == refusal(401, "invalid_token"))
        #expect(scene.me(first).header("WWW-Authenticate") == #"Bearer error="invalid_token""#)
        #expect(scene.me(second).status == 200)
    }

    @Test(arguments: Doorway.allCases) func aSignInIsRefused(through doorway: Doorway) throws {
        let scene = try Scene(through: doorway)
        func answer(_ members: KeyValuePairs<String, JSONValue?>, _ provider: String = "apple") -> String {
            let body = scene.app.proof().adding(members)
            return "\(scene.client.send(.post, "/api/v1/auth/\(provider)/session", body))"
        }
        #expect(answer([:], "facebook") == refusal(422, "unknown_provider"))
        #expect(answer(["raw_nonce": .null]) == refusal(400, "invalid_request"))
        #expect(answer(["raw_nonce": "other"]) == invalidIdentityToken("nonce mismatch"))
        #expect(answer(["identity_token": "a.b.c"]) == invalidIdentityToken("malformed token"))
    }

    @Test(arguments: Doorway.allCases) func anIdentityIsLinkedOnce(through doorway: Doorway) throws {
        let scene = try Scene(through: doorway)
        let (phone, other) = (try scene.phone(1), try scene.phone(2))
        let linked = scene.link(scene.app.proof("ada", email: "ada@example.com"), to: phone)
        #expect(linked.status == 200)
        #expect(linked["user"]?["id"]?.integer == phone.userID && linked["user"]?["anonymous"] == false)
        let identity = linked["connected_identities"]?.array?.first
        #expect(identity?["provider"] == "apple")
        #expect(identity?["email"] == .string(scene.app.own("ada@example.com")))
        #expect("\(scene.link(scene.app.proof("second"), to: phone))" == refusal(422, "provider_already_connected"))

        let owned = scene.link(scene.app.proof("ada"), to: other)
        let ticket = try #require(owned["swap_ticket"]?.string)
        #expect(
            "\(owned)" == """
                409 {"error":"identity_owned_by_another_account","swap_ticket":"\(ticket)","expires_in":600}
                """)
        let swapped = scene.client.send(
            .post, "/api/v1/me/anonymous_swap", ["swap_ticket": .string(ticket)], token: other.token)
        #expect(swapped["user"]?["id"]?.integer == phone.userID, "\(swapped)")
    }

    @Test(arguments: Doorway.allCases) func aPatchSetsAndClearsWhatItNames(through doorway: Doorway) throws {
        let scene = try Scene(through: doorway)
        let phone = try scene.phone()
        func patch(_ body: JSONValue) -> Answer { scene.client.send(.patch, "/api/v1/me", body, token: phone.token) }
        let steps: [(JSONValue, name: JSONValue, nickname: JSONValue, email: JSONValue)] = [
            ([:], .null, .null, .null),
            (["name": "Ada", "unknown": 5], "Ada", .null, .null),
            (["nickname": "홍길동", "contact_email": "Ada@Example.com"], "Ada", "홍길동", "Ada@Example.com"),
            ([:], "Ada", "홍길동", "Ada@Example.com"),
            (["name": .null], .null, "홍길동", "Ada@Example.com"),
            (["name": "", "nickname": .null, "contact_email": .null], "", .null, .null),
        ]
        for (body, name, nickname, email) in steps {
            let answer = patch(body)
            #expect(answer.status == 200)
            for user in [answer["user"], scene.me(phone)["user"]] {
                #expect(user?["name"] == name && user?["nickname"] == nickname, "\(body)")
                #expect(user?["contact_email"] == email, "\(body)")
            }
        }
        let address = try scene.app.column("SELECT login_email FROM users WHERE id = ?", phone.userID)
        #expect(address == ["NULL"])

        let before = "\(scene.me(phone))"
        #expect("\(patch(["name": "new", "nickname": "a\u{202E}"]))" == refusal(400, "invalid_request"))
        #expect("\(patch(["name": "new", "contact_email": "ada@"]))" == refusal(422, "invalid_contact_email"))
        #expect("\(scene.me(phone))" == before)
    }
}
