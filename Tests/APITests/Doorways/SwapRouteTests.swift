import HTTP
import JSON
import Testing

/// The swap (accounts §1.9).
@Suite struct SwapRouteTests {
    private func scene(through doorway: Doorway) throws -> SwapScene {
        try SwapScene(TestApp(through: doorway))
    }

    @Test(arguments: Doorway.allCases) func aPlanIsShownHeldToAndCarriedOutOnce(through doorway: Doorway) throws {
        let scene = try scene(through: doorway)
        let (a, b) = (try scene.anonymous(), try scene.identified())
        try scene.grant(a.userID, try scene.relyingParty())
        let preview = try scene.preview(a, into: b)
        let plan = try #require(preview["plan"]?.string, "\(preview)")
        #expect(preview.status == 200 && preview.header("ETag") == "\"\(plan)\"")
        #expect(preview["merged"]?["rps"] == ["transferred": 1, "skipped_duplicate": 0])
        let other = try scene.swap(a, into: b, ifMatch: "\"other\"")
        #expect("\(other)" == refusal(412, "plan_changed"))

        let request = try scene.swapRequest(a, into: b, key: "key", ifMatch: "\"\(plan)\"")
        let (first, second) = (scene.client.send(request), scene.client.send(request))
        #expect(first.status == 200 && first.header("Idempotency-Replayed") == nil, "\(first)")
        #expect(first["merged"] == preview["merged"])
        #expect("\(second)" == "\(first)" && second.header("Idempotency-Replayed") == "true")
        #expect(try scene.ids("SELECT id FROM grants WHERE user_id = ?", a.userID) == [])
        #expect(try scene.ids("SELECT id FROM grants WHERE user_id = ?", b.id).count == 1)
    }

    @Test(arguments: Doorway.allCases) func afterwardsTheDeviceActsAsB(through doorway: Doorway) throws {
        let scene = try scene(through: doorway)
        let (a, b) = (try scene.anonymous(), try scene.identified())
        let answer = try scene.swap(a, into: b)
        let token = try #require(answer["access_token"]?.string)
        let secret = try #require(answer["device_secret"]?.string)

        let old = scene.client.send(.get, "/api/v1/me", token: a.token)
        #expect("\(old)" == refusal(401, "invalid_token"))
        let me = scene.client.send(.get, "/api/v1/me", token: token)
        #expect(me["user"]?["id"]?.integer == b.id)
        func bootstrap(_ secret: String) -> Answer {
            scene.client.send(
                .post, "/api/v1/devices",
                ["device_uuid": .string(a.uuid), "platform": "ios", "device_secret": .string(secret)])
        }
        #expect("\(bootstrap(a.secret))" == refusal(401, "invalid_device_secret"))
        let again = bootstrap(secret)
        #expect(again["user"]?["id"]?.integer == b.id)
        #expect(again["device"]?["id"]?.integer == a.deviceID)
    }

    // MARK: Refusals

    private func send(_ body: String, _ token: String?, _ client: Client) -> Answer {
        client.send(.post, "/api/v1/me/anonymous_swap", bytes: Array(body.utf8), token: token)
    }

    @Test(arguments: Doorway.allCases) func aBodyThatIsNoSwapIsRefused(through doorway: Doorway) throws {
        let scene = try scene(through: doorway)
        let a = try scene.anonymous()
        for body in ["", "{}", #"{"unknown":{"member":[]}}"#] {
            #expect("\(send(body, a.token, scene.client))" == refusal(422, "unknown_provider"), "\(body)")
        }
        for body in ["[]", "{", "nul"] {
            #expect("\(send(body, a.token, scene.client))" == refusal(400, "invalid_request"), "\(body)")
            for token in [nil, "lpk_live_unknown"] {
                #expect("\(send(body, token, scene.client))" == refusal(401, "invalid_token"), "\(body)")
            }
        }
    }

    @Test(arguments: Doorway.allCases) func aCallerIsAnonymousAndOne(through doorway: Doorway) throws {
        let scene = try scene(through: doorway)
        let (a, b) = (try scene.anonymous(), try scene.identified())
        let identified = try scene.client.signIn(scene.app.proof("bea"), on: scene.next())
        #expect("\(try scene.swap(identified, into: b))" == refusal(422, "non_anonymous_caller"))
        let twice = scene.client.send(
            .post, "/api/v1/me/anonymous_swap", [:], token: a.token, headers: [("authorization", "Bearer x")])
        #expect("\(twice)" == refusal(400, "invalid_request"))
    }

    @Test(arguments: Doorway.allCases) func aWrongMethodAndALongBody(through doorway: Doorway) throws {
        let scene = try scene(through: doorway)
        let a = try scene.anonymous()
        let get = scene.client.send(.get, "/api/v1/me/anonymous_swap", token: a.token)
        #expect("\(get)" == refusal(405, "method_not_allowed"))
        #expect(get.header("Allow") == "POST")
        let long = send(String(repeating: " ", count: 65_537), "lpk_live_unknown", scene.client)
        #expect("\(long)" == refusal(413, "payload_too_large"))
    }
}
