import Analytics
import HTTP
import JSON
import MariaDB
import TestSupport
import Testing

/// Analytics §6 over the wire.
@Suite struct PropertiesTests {
    let app: TestApp
    let scene: AnalyticsScene
    let client: Client

    init() throws {
        app = try TestApp()
        scene = try AnalyticsScene(app)
        client = app.client()
    }

    private func state(_ user: JSONValue = "u") -> JSONValue? {
        client.send(scene.properties(user, [:]))["properties"]
    }

    @Test(
        arguments: [
            (nil, [:], "user_id is required"), ("", [:], "user_id is required"), (7, [:], "user_id is required"),
            ("u", nil, "properties must be an object"), ("u", [], "properties must be an object"),
            ("u", "x", "properties must be an object"),
            ("u", ["": "x"], "Property keys must be non-empty strings"),
            (
                "u", .object(JSONObject([(String(repeating: "k", count: 51), "x")])),
                "Property key \"\(String(repeating: "k", count: 51))\" exceeds max length of 50"
            ),
            ("u", ["k": 1], "Property value for \"k\" must be a string"),
            ("u", ["k": .null], "Property value for \"k\" must be a string"),
            (
                "u", ["k": .string(String(repeating: "😀", count: 101))],
                "Property value for \"k\" exceeds max length of 200"
            ),
            ("u", ["a": "x", "": 1, "k": 2], "Property keys must be non-empty strings"),
            (.string(String(repeating: "u", count: 256)), ["k": "v"], "user_id exceeds max length of 255"),
            ("u\0", ["k": "v"], "user_id must not contain NUL characters"),
            ("u", ["k": "v\0"], "properties must not contain NUL characters"),
            ("u", ["k\0": "v"], "properties must not contain NUL characters"),
        ] as [(JSONValue?, JSONValue?, String)])
    func badInputIsNamed(userID: JSONValue?, properties: JSONValue?, text: String) throws {
        #expect(client.send(scene.properties(userID, properties)).json == ["error": .string(text)])
        #expect(try scene.records().isEmpty)
    }

    @Test func onlyClientKeysOfLiveAppsWrite() throws {
        let agent = try scene.makeKey(.agent, permissions: [.usersWrite])
        for key in [scene.importKey, agent] {
            #expect(
                "\(client.send(scene.properties("u", ["a": "b"], token: key)))"
                    == refusal(400, "Client key must be scoped to an app"))
        }
        try app.change("UPDATE apps SET deleted_at = created_at")
        #expect("\(client.send(scene.properties("u", ["a": "b"])))" == refusal(400, "App not found"))
    }

    @Test func nothingToSetMakesNoRecord() throws {
        #expect("\(client.send(scene.properties("u", [:])))" == #"200 {"updated":true,"properties":{}}"#)
        #expect("\(client.send(scene.properties("u", ["a": ""])))" == #"200 {"updated":true,"properties":{}}"#)
        #expect("\(client.send(scene.properties("owl_anon_a", ["a": ""])))" == #"200 {"updated":true,"properties":{}}"#)
        #expect(try scene.records().isEmpty)
    }

    @Test func limitsAreInCodeUnitsAndInclusive() {
        let (key, value) = (String(repeating: "😀", count: 25), String(repeating: "é", count: 200))
        #expect(client.send(scene.properties("u", .object(JSONObject([(key, .string(value))])))).status == 200)
    }

    @Test func keysAreBytes() {
        _ = client.send(scene.properties("u", .object(JSONObject([("e\u{301}", "1"), ("\u{E9}", "2"), ("E", "3")]))))
        guard case .object(let object) = state() else { return #expect(Bool(false)) }
        #expect(object.members.count == 3)
    }

    private func entries(_ range: Range<Int>, _ value: String = "v") -> JSONValue {
        .object(JSONObject(range.map { ("k\($0)", .string(value)) }))
    }

    @Test func atMost50AreKept() throws {
        #expect(client.send(scene.properties("u", entries(0..<50))).status == 200)
        let before = try app.database.dump()
        let refused = refusal(400, "Total properties count exceeds max of 50")
        #expect("\(client.send(scene.properties("u", ["one more": "x", "k1": "changed"])))" == refused)
        #expect(try app.database.dump() == before)
        // Deletions of the same request count. Changed values add nothing.
        #expect(client.send(scene.properties("u", ["one more": "x", "k1": ""])).status == 200)
        #expect(client.send(scene.properties("u", ["k2": "changed"])).status == 200)
        // A refused request creates no record.
        #expect("\(client.send(scene.properties("v", entries(0..<51))))" == refused)
        #expect(try scene.records() == ["u"])
    }

    /// The request alone has too many properties, so it is refused before anything is locked (§6.1).
    @Test func whatCannotFitWaitsForNobody() throws {
        _ = client.send(scene.properties("u", entries(0..<50)))
        let refused = refusal(400, "Total properties count exceeds max of 50")
        let holder = try app.database.connect()
        try holder.begin()
        _ = try holder.query("SELECT id FROM app_users FOR UPDATE")
        #expect("\(client.send(scene.properties("u", entries(0..<51, "w"))))" == refused)
        #expect("\(client.send(scene.properties("v", entries(0..<60_000))))" == refused)
        // Deletions of other keys do not make enough room.
        var mixed = (0..<51).map { ("k\($0)", "w" as JSONValue) }
        mixed += (100..<200).map { ("k\($0)", "") }
        #expect("\(client.send(scene.properties("u", .object(JSONObject(mixed)))))" == refused)
        try holder.rollback()
        #expect(try scene.records() == ["u"])
    }

    @Test func whatCannotFitIsTheLastThingToBeWrong() throws {
        let many = (0..<60).map { ("k\($0)", "v" as JSONValue) }
        func answer(_ members: [(String, JSONValue)], token: String? = nil) -> String {
            "\(client.send(scene.properties("u", .object(JSONObject(members)), token: token)))"
        }
        #expect(answer(many + [("last", 1)]) == refusal(400, "Property value for \\\"last\\\" must be a string"))
        #expect(answer(many + [("last", "\0")]) == refusal(400, "properties must not contain NUL characters"))
        #expect(answer(many, token: scene.importKey) == refusal(400, "Client key must be scoped to an app"))
        try app.change("UPDATE apps SET deleted_at = created_at")
        #expect(answer(many) == refusal(400, "App not found"))
    }

    @Test func fiftySetsAndAnyNumberOfDeletesFit() throws {
        _ = client.send(scene.properties("u", ["old": "x", "e\u{301}": "kept", "k3": "old"]))
        var changes = (0..<1000).map { ("gone\($0)", "" as JSONValue) }
        changes += (0..<49).map { ("k\($0)", "v") } + [("old", ""), ("\u{E9}", "")]
        #expect(client.send(scene.properties("u", .object(JSONObject(changes)))).status == 200)
        guard case .object(let object) = state() else { return #expect(Bool(false)) }
        #expect(object.members.count == 50 && object["k3"] == "v")
        #expect(object["e\u{301}"] == "kept" && object["old"] == nil)
    }

    /// If a key is sent several times, its last value counts.
    @Test func aKeySentTwiceIsOne() throws {
        func send(_ properties: String) -> String {
            "\(client.send(.post, "/v1/identity/properties", bytes: Array(#"{"user_id":"u","properties":\#(properties)}"#.utf8), token: scene.clientKey, headers: [("content-type", "application/json")]))"
        }
        #expect(send(#"{"a":"1","a":5,"a":"2"}"#) == #"200 {"updated":true,"properties":{"a":"2"}}"#)
        #expect(send(#"{"a":"1","a":""}"#) == #"200 {"updated":true,"properties":{}}"#)
        let fifty = (0..<50).map { #""k\#($0)":"v""# }.joined(separator: ",")
        #expect(send("{\(fifty),\(fifty)}").hasPrefix("200 "))
    }

    @Test func aRecordAboveTheCapMayShrink() throws {
        _ = client.send(scene.properties("u", ["a": "b"]))
        let many = (0..<60).map { "\"k\($0)\":\"v\"" }.joined(separator: ",")
        try app.change("UPDATE app_users SET properties = ?", "{\(many)}")
        #expect(client.send(scene.properties("u", ["k1": "", "new": "x"])).status == 200)
        #expect(client.send(scene.properties("u", ["k2": "w"])).status == 200)
        #expect(client.send(scene.properties("u", ["k3": "", "k4": ""])).status == 200)
        #expect(client.send(scene.properties("u", ["new 1": "x", "new 2": "x", "new 3": "x"])).status == 400)
    }

    @Test func seenTimesStay() throws {
        _ = client.send(scene.properties("u", ["a": "b"]))
        let before = try app.column("SELECT CONCAT(first_seen_at, last_seen_at) FROM app_users")
        app.time.advance(by: .seconds(3600))
        _ = client.send(scene.properties("u", ["a": "c"]))
        #expect(try app.column("SELECT CONCAT(first_seen_at, last_seen_at) FROM app_users") == before)
        #expect(try app.count("SELECT COUNT(*) FROM app_user_apps") == 0)
    }

    @Test func aMergeKeepsTheRealRecordsKeysAndWhatTheServerWrote() throws {
        let server: [(String, JSONValue)] = [
            ("attribution_source", "none"), ("asa_ad_id", "1"), ("_questionnaires_dismissed_at", "2025"),
        ]
        guard case .object(let anonymous) = entries(0..<47, "anonymous") else { return }
        let members = anonymous.members.map { ($0.name, $0.value) } + server
        _ = client.send(scene.properties("owl_anon_a", .object(JSONObject(members))))
        _ = client.send(scene.properties("u", entries(40..<88, "real")))
        #expect(client.send(scene.claim("owl_anon_a", "u")).status == 200)
        guard case .object(let merged) = state() else { return #expect(Bool(false)) }
        // 48 properties of its own, and three of the server: no room for k0 to k39 of the anonymous record.
        #expect(merged.members.count == 51)
        #expect(merged["k40"] == "real" && merged["asa_ad_id"] == "1" && merged["k0"] == nil)
        #expect(merged["_questionnaires_dismissed_at"] == "2025" && merged["attribution_source"] == "none")
    }

    /// Each claim adds the ad network's properties. Only the first two users may add `asa_` keys of their own.
    @Test func claimsDoNotMakeARecordGrowForever() throws {
        let written = ["asa_campaign_id", "asa_ad_id", "asa_keyword_id", "asa_claim_type", "asa_ad_group_id"]
        var counts: [Int] = []
        for (number, key) in written.enumerated() {
            let made = (0..<49).map { ("asa_\(number)_\($0)", JSONValue.string("x")) }
            let user = JSONValue.string("owl_anon_\(number)")
            let members = JSONValue.object(JSONObject(made + [(key, "network")]))
            #expect(client.send(scene.properties(user, members)).status == 200)
            #expect(client.send(scene.claim(user, "u")).status == 200)
            guard case .object(let merged) = state() else { return #expect(Bool(false)) }
            counts.append(merged.members.count)
            #expect(merged[key] == "network" && merged["asa_0_48"] == "x")
        }
        #expect(counts == [50, 100, 101, 102, 103])
    }

    @Test func theRestComesInAscendingOrderOfKeys() throws {
        _ = client.send(scene.properties("owl_anon_a", ["b": "1", "\u{E9}": "2", "a": "3", "Z": "4"]))
        _ = client.send(scene.properties("u", entries(0..<47)))
        #expect(client.send(scene.claim("owl_anon_a", "u")).status == 200)
        guard case .object(let merged) = state() else { return #expect(Bool(false)) }
        #expect(merged.members.map(\.name).suffix(3) == ["Z", "a", "b"])
    }

    @Test func requestsAtOnceLoseNoKey() throws {
        let scene = scene
        for user in ["u", "owl_anon_a"] as [JSONValue] {
            let answers = app.atOnce(16) { client, thread in
                (0..<3).map { number in
                    let entry = JSONValue.object(JSONObject([("k\(thread)-\(number)", "v")]))
                    return client.send(scene.properties(user, entry)).status
                }
            }
            #expect(answers.flatMap { $0 }.allSatisfy { $0 == 200 })
            guard case .object(let object) = state(user) else { return #expect(Bool(false)) }
            #expect(object.members.count == 48)
        }
    }

    @Test func aStateThatCannotBeWrittenLeavesNothing() throws {
        let scene = scene
        var number = 0
        let injection = FailureInjection(app: app) { client in
            number += 1
            // The first use of a key within a minute is noted.
            _ = client.send(scene.properties("u", [:]))
            return scene.properties(.string("owl_anon_\(number)"), ["a": "b"])
        }
        try injection.run(expecting: ["app_users INSERT", "app_users UPDATE"])
    }
}
