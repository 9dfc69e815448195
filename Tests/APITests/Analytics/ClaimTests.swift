import Analytics
import JSON
import TestSupport
import Testing

/// Analytics §5 over the wire.
@Suite struct ClaimTests {
    let app: TestApp
    let scene: AnalyticsScene
    let client: Client

    init() throws {
        app = try TestApp()
        scene = try AnalyticsScene(app)
        client = app.client()
    }

    @Test(
        arguments: [
            (nil, "u", "anonymous_id is required"), ("", "u", "anonymous_id is required"),
            (7, "u", "anonymous_id is required"), ("owl_anon_a", nil, "user_id is required"),
            ("owl_anon_a", "", "user_id is required"), ("owl_anon_a", ["u"], "user_id is required"),
            ("anon_a", "u", #"anonymous_id must start with "owl_anon_""#),
            ("Owl_anon_a", "owl_anon_b", #"anonymous_id must start with "owl_anon_""#),
            ("owl_anon_a", "owl_anon_b", "user_id must not start with anonymous prefix"),
            (
                .string("owl_anon_" + String(repeating: "a", count: 247)), "u",
                "anonymous_id exceeds max length of 255"
            ),
            ("owl_anon_a", .string(String(repeating: "😀", count: 128)), "user_id exceeds max length of 255"),
            ("owl_anon_\0", "u", "anonymous_id must not contain NUL characters"),
            ("owl_anon_a", "u\0", "user_id must not contain NUL characters"),
        ] as [(JSONValue?, JSONValue?, String)])
    func badInputIsNamed(anonymousID: JSONValue?, userID: JSONValue?, text: String) throws {
        #expect(client.send(scene.claim(anonymousID, userID)).json == ["error": .string(text)])
        #expect(try scene.records().isEmpty)
    }

    @Test func onlyClientKeysOfLiveAppsClaim() throws {
        for key in [scene.importKey, try scene.makeKey(.agent, permissions: [.eventsWrite])] {
            #expect(
                "\(client.send(scene.claim("owl_anon_a", "u", token: key)))"
                    == refusal(400, "Client key must be scoped to an app"))
        }
        try app.change("UPDATE projects SET deleted_at = created_at")
        #expect("\(client.send(scene.claim("owl_anon_a", "u")))" == refusal(400, "App not found"))
        try app.change("UPDATE projects SET deleted_at = NULL")
        try app.change("UPDATE apps SET deleted_at = created_at")
        #expect("\(client.send(scene.claim("owl_anon_a", "u")))" == refusal(400, "App not found"))
        #expect(try scene.records().isEmpty)
    }

    @Test func aClaimBeforeAnythingElseMakesTheRealRecord() throws {
        #expect(
            "\(client.send(scene.claim("owl_anon_a", "u")))" == #"200 {"claimed":true,"events_reassigned_count":0}"#)
        #expect(try scene.records() == ["u"])
        #expect(try app.column("SELECT CAST(is_anonymous AS CHAR) FROM app_users") == ["0"])
        #expect(try app.count("SELECT COUNT(*) FROM app_user_apps") == 0)
    }

    @Test func anAnonymousRecordIsRenamed() throws {
        #expect(client.send(scene.properties("owl_anon_a", ["plan": "pro"])).status == 200)
        let before = try app.column(
            "SELECT CONCAT_WS(' ', id, HEX(public_id), properties, first_seen_at) FROM app_users")
        app.time.advance(by: .seconds(60))
        #expect(client.send(scene.claim("owl_anon_a", "u")).status == 200)
        #expect(try scene.records() == ["u"])
        #expect(
            try app.column("SELECT CONCAT_WS(' ', id, HEX(public_id), properties, first_seen_at) FROM app_users")
                == before)
    }

    @Test func anAnonymousRecordBesideARealOneBecomesATombstone() throws {
        #expect(client.send(scene.properties("owl_anon_a", ["a": "anonymous", "b": "anonymous"])).status == 200)
        app.time.advance(by: .seconds(60))
        #expect(client.send(scene.properties("u", ["b": "real"])).status == 200)
        #expect(client.send(scene.claim("owl_anon_a", "u")).status == 200)
        #expect(try scene.records() == ["owl_anon_a -> u", "u"])
        let answer = client.send(scene.properties("owl_anon_a", [:]))
        #expect(answer["properties"] == ["a": "anonymous", "b": "real"])
        #expect(try app.column("SELECT CAST(COUNT(DISTINCT first_seen_at) AS CHAR) FROM app_users") == ["1"])
    }

    @Test(arguments: [false, true]) func theEarlierTimeIsWhenAUserWasFirstSeen(isAnonymousEarlier: Bool) throws {
        let ids = isAnonymousEarlier ? ["owl_anon_a", "u"] : ["u", "owl_anon_a"]
        let earlier = app.time.now
        for id in ids {
            #expect(client.send(scene.properties(.string(id), ["a": "b"])).status == 200)
            app.time.advance(by: .seconds(60))
        }
        #expect(client.send(scene.claim("owl_anon_a", "u")).status == 200)
        #expect(
            try app.count("SELECT COUNT(*) FROM app_users WHERE user_id = 'u' AND first_seen_at = ?", earlier) == 1)
    }

    /// Step 3, in a merge and if the record is renamed.
    @Test(arguments: [false, true]) func deletedRowsKeepTheAnonymousID(isMerged: Bool) throws {
        if isMerged { #expect(client.send(scene.properties("u", ["a": "b"])).status == 200) }
        for event in 1...2 {
            #expect(client.send(scene.feedback(["user_id": "owl_anon_a"])).status == 201)
            _ = try scene.reserve(client, [7], ["user_id": "owl_anon_a", "client_event_id": .string(uuid(event))])
        }
        try app.change("UPDATE feedback SET deleted_at = created_at LIMIT 1")
        try app.change("UPDATE event_attachments SET deleted_at = created_at LIMIT 1")
        #expect(client.send(scene.claim("owl_anon_a", "u")).status == 200)
        #expect(
            try app.column(
                """
                SELECT CONCAT_WS(' ', u.user_id, f.frozen_user_id, f.deleted_at = f.created_at)
                FROM feedback f LEFT JOIN app_users u ON u.id = f.app_user_id ORDER BY f.deleted_at IS NULL
                """) == ["owl_anon_a 1", "u"])
        #expect(
            try app.column(
                """
                SELECT CONCAT_WS(' ', u.user_id, a.frozen_user_id, a.deleted_at = a.created_at)
                FROM event_attachments a LEFT JOIN app_users u ON u.id = a.app_user_id ORDER BY a.deleted_at IS NULL
                """) == ["owl_anon_a 1", "u"])
    }

    @Test func repeatingAClaimChangesNothing() throws {
        _ = client.send(scene.properties("owl_anon_a", ["a": "b"]))
        _ = client.send(scene.properties("u", ["b": "c"]))
        #expect(client.send(scene.claim("owl_anon_a", "u")).status == 200)
        let before = try app.database.dump()
        #expect(
            "\(client.send(scene.claim("owl_anon_a", "u")))" == #"200 {"claimed":true,"events_reassigned_count":0}"#)
        #expect(try app.database.dump() == before)
    }

    @Test func ofTwoClaimantsTheLaterOneGetsWhatComesLater() throws {
        _ = client.send(scene.properties("owl_anon_a", ["a": "1"]))
        #expect(client.send(scene.claim("owl_anon_a", "u")).status == 200)
        #expect(client.send(scene.claim("owl_anon_a", "v")).status == 200)
        #expect(client.send(scene.properties("owl_anon_a", ["b": "2"]))["properties"] == ["b": "2"])
        #expect(client.send(scene.properties("u", [:]))["properties"] == ["a": "1"])
        // If the first user repeats the claim, the id does not come back.
        #expect(client.send(scene.claim("owl_anon_a", "u")).status == 200)
        #expect(client.send(scene.properties("owl_anon_a", [:]))["properties"] == ["b": "2"])
        #expect(try app.count("SELECT COUNT(DISTINCT claimed_at) FROM identity_claims") == 2)
        #expect(try scene.records() == ["u", "v"])
    }

    /// The time of a claim of the id itself is in `ClaimRaceTests.theIDIsClaimedMeanwhile`.
    @Test func aUsersClaimIsLaterThanTheirOthersWhateverTheClockSays() throws {
        #expect(client.send(scene.claim("owl_anon_a", "u")).status == 200)
        try app.change("UPDATE identity_claims SET claimed_at = '2126-05-01 00:00:00.123456'")
        #expect(client.send(scene.claim("owl_anon_b", "u")).status == 200)
        #expect(
            try app.column("SELECT CAST(claimed_at AS CHAR) FROM identity_claims WHERE anonymous_id = 'owl_anon_b'")
                == [
                    "2126-05-01 00:00:00.123457"
                ])
    }

    @Test func aProjectMayRefuseASecondClaimant() throws {
        try app.change("UPDATE projects SET claim_conflict = 'refuse'")
        _ = client.send(scene.properties("v", ["b": "2"]))
        #expect(client.send(scene.claim("owl_anon_a", "u")).status == 200)
        let before = try app.database.dump()
        for user in ["v", "w"] as [JSONValue] {
            #expect(
                "\(client.send(scene.claim("owl_anon_a", user)))"
                    == #"409 {"error":"Anonymous id already claimed","reason":"already_claimed"}"#)
        }
        #expect(try app.database.dump() == before)
        #expect(client.send(scene.claim("owl_anon_a", "u")).status == 200)
    }

    @Test func claimsOfOneProjectSayNothingInAnother() throws {
        let other = try AnalyticsScene(app, team: scene.team)
        #expect(client.send(scene.claim("owl_anon_a", "u")).status == 200)
        _ = client.send(other.properties("owl_anon_a", ["a": "b"]))
        #expect(try other.records() == ["owl_anon_a"])
    }

    @Test func idsAreBytes() throws {
        #expect(client.send(scene.claim("owl_anon_e\u{301}", "User ")).status == 200)
        #expect(client.send(scene.claim("owl_anon_\u{E9}", "user ")).status == 200)
        #expect(client.send(scene.claim("owl_anon_\u{E9} ", "user")).status == 200)
        #expect(try scene.records() == ["User ", "user", "user "])
        #expect(try app.count("SELECT COUNT(*) FROM identity_claims") == 3)
    }

    @Test func aClaimThatCannotBeWrittenLeavesNothing() throws {
        var number = 0
        let scene = scene
        let injection = FailureInjection(app: app) { client in
            number += 1
            let (anonymous, user) = (JSONValue.string("owl_anon_\(number)"), JSONValue.string("u\(number)"))
            _ = client.send(scene.properties(anonymous, ["a": "b"]))
            _ = client.send(scene.properties(user, ["c": "d"]))
            return scene.claim(anonymous, user)
        }
        try injection.run(expecting: ["app_users UPDATE", "identity_claims INSERT"])
    }
}
