import Analytics
import JSON
import TestSupport
import Testing
import Threads

/// Analytics §7 over the wire. A server of the test stands in for the ad network.
@Suite struct AttributionTests {
    private static let path = "/v1/identity/attribution/apple-search-ads"

    /// An app with its ad network.
    private struct Setting: Sendable {
        let app: TestApp
        let scene: AnalyticsScene
        var client: Client { app.client() }

        init(endpoint: String, isDevelopment: Bool = false, workers: Int = 64) throws {
            app = try TestApp(
                analytics: {
                    $0.attributionEndpoint = endpoint
                    $0.attributionTimeout = .seconds(60)
                    $0.isDevelopment = isDevelopment
                }, workers: workers)
            scene = try AnalyticsScene(app)
        }

        func submit(
            _ token: JSONValue? = "token", user: JSONValue? = "u", mock: JSONValue? = nil, path: String = path,
            key: String? = nil, by client: Client? = nil
        ) -> Answer {
            let body = ([:] as JSONValue).adding(["user_id": user, "attribution_token": token, "dev_mock": mock])
            return (client ?? self.client).send(scene.post(path, body, key))
        }

        func properties(of user: JSONValue = "u") -> JSONValue? {
            client.send(scene.properties(user, [:]))["properties"]
        }
    }

    private func json(_ body: String, status: Int = 200) -> LocalHTTPServer.Reply {
        .response(status: status, body: Array(body.utf8))
    }

    private func upstream(_ status: Int, _ message: String) -> String {
        #"502 {"error":"Attribution upstream error","statusCode":\#(status),"message":"\#(message)"}"#
    }

    // MARK: Checks

    @Test(
        arguments: [
            ("/v1/identity/attribution/x", nil, nil, "Unknown attribution source: x"),
            (path, nil, nil, "user_id is required"), (path, "", "t", "user_id is required"),
            (path, 7, "t", "user_id is required"), (path, "u", nil, "attribution_token is required"),
            (path, "u", 7, "attribution_token is required"), (path, "u\0", nil, "attribution_token is required"),
            (path, .string(String(repeating: "😀", count: 128)), "t", "user_id exceeds max length of 255"),
            (path, "u\0", "t", "user_id must not contain NUL characters"),
        ] as [(String, JSONValue?, JSONValue?, String)])
    func badInputIsNamed(path: String, user: JSONValue?, token: JSONValue?, text: String) throws {
        let setting = try Setting(endpoint: "http://127.0.0.1:1/")
        #expect("\(setting.submit(token, user: user, path: path))" == refusal(400, text))
        #expect(try setting.scene.records().isEmpty)
    }

    @Test func onlyClientKeysOfLiveAppsSubmit() throws {
        let setting = try Setting(endpoint: "http://127.0.0.1:1/")
        let (app, scene) = (setting.app, setting.scene)
        let weak = try scene.makeKey(.client, permissions: [.eventsWrite])
        #expect("\(setting.submit(key: weak))" == refusal(403, "Missing permission: users:write"))
        for key in [scene.importKey, scene.agentKey] {
            #expect("\(setting.submit(key: key))" == refusal(400, "Client key must be scoped to an app"))
        }
        try app.change("UPDATE apps SET deleted_at = created_at")
        #expect("\(setting.submit())" == refusal(400, "App not found"))
    }

    @Test func anEmptyTokenIsNotSent() throws {
        let setting = try Setting(endpoint: "http://127.0.0.1:1/")
        #expect(
            "\(setting.submit(""))"
                == #"400 {"error":"Attribution token rejected by upstream","reason":"empty token"}"#)
        #expect(try setting.scene.records().isEmpty)
    }

    // MARK: The network's answers

    @Test func theTokenIsPostedAsItIs() throws {
        let server = try LocalHTTPServer { _ in .response(status: 404) }
        let setting = try Setting(endpoint: server.url + "/api/v1/")
        _ = setting.submit(" tökén\n==")
        let request = try #require(server.requests.first)
        #expect(request.method == "POST")
        #expect(request.path == "/api/v1/")
        #expect(request.header("content-type") == "text/plain")
        #expect(request.body == Array(" tökén\n==".utf8))
    }

    @Test func whatTheNetworkRefusesIsTold() throws {
        let long = String(repeating: "a", count: 499) + "😀b"
        let cases: [(LocalHTTPServer.Reply, String)] = [
            (
                json("bad", status: 400),
                #"400 {"error":"Attribution token rejected by upstream","reason":"invalid token"}"#
            ),
            (json("down", status: 500), upstream(500, "down")), (json("", status: 503), upstream(503, "upstream 503")),
            (json("no", status: 401), upstream(401, "no")),
            (json(long, status: 429), upstream(429, long.dropLast(2) + "\u{FFFD}")),
            (
                .response(status: 302, headers: [("Location", "/next")]), upstream(302, "upstream 302")
            ),
            (json(""), upstream(200, "upstream 200")), (json("[1]"), upstream(200, "[1]")),
            (json(#"{"attribution":tru"#), upstream(200, #"{\"attribution\":tru"#)),
            (json("null", status: 201), upstream(201, "null")),
            (.endless, upstream(200, String(repeating: " ", count: 500))),
        ]
        for (reply, expected) in cases {
            let server = try LocalHTTPServer { _ in reply }
            let setting = try Setting(endpoint: server.url)
            #expect("\(setting.submit())" == expected)
            #expect(server.requests.count == 1)
            #expect(try setting.scene.records().isEmpty)
        }
    }

    @Test func anAnswerThatIsNoneHasStatusZero() throws {
        let short = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{}"
        let (broken, closed) = (
            try LocalHTTPServer { _ in .raw(Array(short.utf8)) }, try LocalHTTPServer { _ in .raw([]) }
        )
        let plain = try LocalHTTPServer { _ in .response() }
        let endpoints = [
            "http://127.0.0.1:1/", broken.url, closed.url, "https://127.0.0.1:\(plain.port)/",
        ]
        for endpoint in endpoints {
            let setting = try Setting(endpoint: endpoint)
            let answer = setting.submit()
            #expect(answer.status == 502)
            #expect(answer.error == "Attribution upstream error")
            #expect(answer["statusCode"] == 0)
            #expect(answer["message"]?.string?.isEmpty == false)
            #expect(try setting.scene.records().isEmpty)
        }
    }

    /// Uses the real clock.
    @Test func aSilentNetworkIsGivenUpAfterTenSeconds() throws {
        let server = try LocalHTTPServer { _ in .silence }
        let setting = try Setting(endpoint: server.url)
        let start = ContinuousClock.now
        #expect(setting.submit()["statusCode"] == 0)
        #expect(ContinuousClock.now - start >= .seconds(10))
    }

    @Test func aPendingAttributionWritesNothing() throws {
        let server = try LocalHTTPServer { _ in .response(status: 404) }
        let setting = try Setting(endpoint: server.url)
        #expect(
            "\(setting.submit())"
                == #"200 {"attributed":null,"pending":true,"retry_after_seconds":3600,"properties":{}}"#)
        #expect(try setting.scene.records().isEmpty)
    }

    @Test(
        arguments: [
            (#"{}"#, false, ["attribution_source": "none"]),
            (#"{"attribution":"true","campaignId":1}"#, false, ["attribution_source": "none"]),
            (
                #"{"attribution":true,"campaignId":7,"adGroupId":7,"adId":7.0,"keywordId":1,"claimType":"click"}"#,
                false,
                ["attribution_source": "apple_test_install"]
            ),
            (
                #"{"attribution":true,"campaignId":0,"adGroupId":0,"adId":0}"#, true,
                ["attribution_source": "apple_search_ads"]
            ),
            (
                #"{"attribution":true,"campaignId":"7","adGroupId":7,"adId":7,"keywordId":-1,"creativeSetId":null}"#,
                true,
                ["attribution_source": "apple_search_ads", "asa_ad_group_id": "7", "asa_ad_id": "7"]
            ),
            (
                #"""
                {"attribution":true,"orgId":9,"campaignId":1,"adGroupId":2,"keywordId":3,"adId":4,"creativeSetId":5.0,
                 "claimType":"click","countryOrRegion":"US"}
                """#, true,
                [
                    "attribution_source": "apple_search_ads", "asa_campaign_id": "1", "asa_ad_group_id": "2",
                    "asa_keyword_id": "3", "asa_ad_id": "4", "asa_creative_set_id": "5", "asa_claim_type": "click",
                ]
            ),
            (
                #"{"attribution":true,"campaignId":9007199254740993,"claimType":""}"#, true,
                ["attribution_source": "apple_search_ads", "asa_campaign_id": "9007199254740993"]
            ),
        ] as [(String, Bool, JSONValue)])
    func answersAreMapped(body: String, isAttributed: Bool, properties: JSONValue) throws {
        let server = try LocalHTTPServer { _ in .response(body: Array(body.utf8)) }
        let setting = try Setting(endpoint: server.url)
        let expected: JSONValue = [
            "attributed": .bool(isAttributed), "pending": false, "properties": properties,
        ]
        let answer = setting.submit()
        #expect(answer.status == 200)
        #expect(answer.json == expected)
        #expect(setting.properties() == properties)
    }

    @Test func aLongClaimTypeIsCut() throws {
        let type = String(repeating: "a", count: 199) + "😀"
        let server = try LocalHTTPServer { _ in
            .response(body: Array(#"{"attribution":true,"claimType":"\#(type)"}"#.utf8))
        }
        let answer = try Setting(endpoint: server.url).submit()
        #expect(answer["properties"]?["asa_claim_type"] == .string(type.dropLast() + "\u{FFFD}"))
    }

    // MARK: What is written

    @Test func propertiesAreMergedWhateverTheirNumber() throws {
        let server = try LocalHTTPServer { _ in
            .response(body: Array(#"{"attribution":true,"campaignId":1}"#.utf8))
        }
        let setting = try Setting(endpoint: server.url)
        let names = ["asa_ad_id", "asa_campaign_id"] + (0..<48).map { "key\($0)" }
        let before = JSONObject(names.map { ($0, "old") })
        #expect(setting.client.send(setting.scene.properties("u", .object(before))).status == 200)
        #expect(setting.submit().status == 200)
        let after = JSONObject(
            before.members.map { ($0.name, $0.value) } + [
                ("asa_campaign_id", "1"), ("attribution_source", "apple_search_ads"),
            ])
        #expect(setting.properties() == .object(after))
        #expect(try setting.scene.records() == ["u"])
    }

    @Test func aClaimThatLandsDuringTheCallIsHonored() throws {
        let isClaimed = Monitor(false)
        let server = try LocalHTTPServer { _ in
            #expect(isClaimed.wait(atMost: .seconds(50)) { $0 ? true : nil } == true)
            return .response(body: Array(#"{"attribution":false}"#.utf8))
        }
        let setting = try Setting(endpoint: server.url)
        #expect(setting.client.send(setting.scene.properties("owl_anon_a", ["a": "b"])).status == 200)
        #expect(setting.client.send(setting.scene.properties("u", ["c": "d"])).status == 200)
        let answers = setting.app.atOnce(2) { client, thread in
            if thread == 0 { return "\(setting.submit(user: "owl_anon_a", by: client))" }
            #expect(server.waitForRequests(1))
            // Neither a transaction nor a lock is held meanwhile.
            let hasTransaction = try? setting.app.sql { try setting.app.database.hasTransaction($0) }
            let claim = client.send(setting.scene.claim("owl_anon_a", "u"))
            isClaimed.change { $0 = true }
            return "\(hasTransaction ?? true) \(claim)"
        }
        #expect(
            answers == [
                #"200 {"attributed":false,"pending":false,"properties":{"attribution_source":"none"}}"#,
                #"false 200 {"claimed":true,"events_reassigned_count":0}"#,
            ])
        #expect(setting.properties() == ["a": "b", "c": "d", "attribution_source": "none"])
        #expect(try setting.scene.records() == ["owl_anon_a -> u", "u"])
    }

    /// With eight workers, six may wait for other servers, three of them for one app.
    @Test func oneTooManyIsTurnedAwayAtOnce() throws {
        let isOver = Monitor(false)
        let server = try LocalHTTPServer { _ in
            #expect(isOver.wait(atMost: .seconds(50)) { $0 ? true : nil } == true)
            return .response(status: 404)
        }
        let setting = try Setting(endpoint: server.url, workers: 8)
        let answers = setting.app.atOnce(4) { client, thread in
            if thread < 3 { return "\(setting.submit(by: client))" }
            #expect(server.waitForRequests(3))
            let refused = setting.submit(by: client)
            let other = client.send(setting.scene.properties("u", ["a": "b"])).status
            isOver.change { $0 = true }
            return "\(refused.header("Retry-After") ?? "") \(other) \(refused)"
        }
        #expect(answers.prefix(3).allSatisfy { $0.hasPrefix("200 ") })
        #expect(answers.last == "1 200 " + refusal(503, "Service temporarily unavailable"))
        #expect(server.requests.count == 3)
        #expect(setting.submit().status == 200)
    }

    // MARK: Development

    @Test func developersMayNameTheOutcome() throws {
        let setting = try Setting(endpoint: "http://127.0.0.1:1/", isDevelopment: true)
        #expect(
            "\(setting.submit("", mock: "pending"))"
                == #"200 {"attributed":null,"pending":true,"retry_after_seconds":3600,"properties":{}}"#)
        #expect(try setting.scene.records().isEmpty)
        #expect(
            "\(setting.submit(mock: "unattributed"))"
                == #"200 {"attributed":false,"pending":false,"properties":{"attribution_source":"none"}}"#)
        #expect(
            setting.submit(mock: "attributed").json == [
                "attributed": true, "pending": false,
                "properties": [
                    "attribution_source": "apple_search_ads", "asa_campaign_id": "542370539",
                    "asa_ad_group_id": "542317095", "asa_keyword_id": "87675432", "asa_creative_set_id": "542317096",
                    "asa_ad_id": "542317097", "asa_claim_type": "click",
                ],
            ])
        for mock in ["x", "", 7] as [JSONValue] { #expect(setting.submit(mock: mock)["statusCode"] == 0) }
        #expect(setting.submit(nil, mock: "pending").error == "attribution_token is required")
    }

    @Test func productionAsksTheNetworkWhateverIsNamed() throws {
        let server = try LocalHTTPServer { _ in .response(status: 404) }
        let setting = try Setting(endpoint: server.url)
        #expect(setting.submit(mock: "attributed")["pending"] == true)
        #expect(server.requests.count == 1)
    }
}
