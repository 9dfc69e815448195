import HTTP
import JSON
import TestSupport
import Testing

/// A sign-in is the claim (accounts Stage 5): what a device reported anonymously is its owner's in the commit that signs the
/// owner in.
@Suite struct SignInClaimTests {
    let app: TestApp
    let scene: AnalyticsScene
    let accounts: SwapScene
    let client: Client

    init() throws {
        app = try TestApp()
        scene = try AnalyticsScene(app)
        accounts = try SwapScene(app)
        client = app.client()
        try app.change("UPDATE projects SET accounts = TRUE")
    }

    private static let id: JSONValue = "owl_anon_phone"

    private func bootstrap(_ members: KeyValuePairs<String, JSONValue?> = [:]) -> Answer {
        client.send(
            .post, "/api/v1/devices",
            (["device_uuid": .string(uuid(7)), "platform": "ios"] as JSONValue).adding(members))
    }

    private func session(_ members: KeyValuePairs<String, JSONValue?> = [:]) -> Answer {
        client.send(.post, "/api/v1/auth/apple/session", app.proof().adding(members))
    }

    private func link(
        _ token: String, _ subject: String = "subject", _ members: KeyValuePairs<String, JSONValue?> = [:]
    )
        -> Answer
    {
        client.send(
            .post, "/api/v1/me/connected_identities",
            app.proof(subject).adding(["provider": "apple"]).adding(members), token: token)
    }

    /// An event that the phone reports before it knows of its owner.
    private func report(_ message: String = "hi") {
        #expect(client.send(scene.ingest([scene.event(message, of: "owl_anon_phone")])).status == 200)
    }

    private func claims(_ outcomes: String..., of id: JSONValue = Self.id) -> JSONValue {
        .array(
            outcomes.map { outcome in
                ["project_id": .string("\(scene.project)"), "anonymous_id": id, "outcome": .string(outcome)]
            })
    }

    @Test func nothingIsClaimedForAnAnonymousAccount() throws {
        report()
        let answer = bootstrap(["anonymous_id": Self.id])
        #expect(answer["claims"] == .array([]))
        #expect(try scene.records() == ["owl_anon_phone"])
        #expect(try app.column("SELECT anonymous_id FROM device_anonymous_ids") == ["owl_anon_phone"])
    }

    @Test func aSessionOnTheDeviceClaimsWhatItKept() throws {
        let phone = try Phone(bootstrap(["anonymous_id": Self.id]))
        report("early")
        let answer = session([
            "device_uuid": .string(phone.uuid), "platform": "ios", "device_secret": .string(phone.secret),
        ])
        let user = try #require(answer["user"]?["id"]?.integer)
        #expect(user != phone.userID)
        #expect(answer["claims"] == nil)
        report("late")
        #expect(try scene.events() == ["early of \(user)", "late of \(user)"])
        #expect(try scene.records() == ["\(user)"])
        try scene.expectClean()
    }

    @Test func aSessionWithoutADeviceClaimsAndKeepsNothing() throws {
        report()
        let answer = session(["anonymous_id": Self.id])
        let user = try #require(answer["user"]?["id"]?.integer)
        #expect(answer["claims"] == claims("claimed"))
        #expect(try scene.events() == ["hi of \(user)"])
        #expect(try app.count("SELECT COUNT(*) FROM device_anonymous_ids") == 0)
        #expect(session(["anonymous_id": Self.id])["claims"] == claims("already_claimed"))
    }

    @Test func aLinkThatPromotesClaims() throws {
        let phone = try Phone(bootstrap(["anonymous_id": Self.id]))
        report()
        #expect(link(phone.token)["claims"] == nil)
        #expect(try scene.events() == ["hi of \(phone.userID)"])
        // An identified caller names a new id.
        let answer = link(phone.token, "subject", ["anonymous_id": "owl_anon_other"])
        let all = try #require(answer["claims"]?.array)
        #expect(all.map { $0["outcome"]?.string } == ["claimed", "already_claimed"])
    }

    @Test func aBootstrapOfAnIdentifiedOwnerClaims() throws {
        let phone = try Phone(bootstrap())
        #expect(link(phone.token).status == 200)
        report()
        let secret = JSONValue.string(phone.secret)
        #expect(bootstrap(["device_secret": secret, "anonymous_id": Self.id])["claims"] == claims("claimed"))
        #expect(try scene.events() == ["hi of \(phone.userID)"])
        #expect(bootstrap(["device_secret": secret])["claims"] == nil)
        let answer = client.send(
            .post, "/api/v1/auth/anonymous_bootstrap",
            [
                "device_id": .string(phone.uuid), "device_platform": "ios", "device_secret": secret,
                "anonymous_id": Self.id,
            ])
        #expect(answer["claims"] == claims("already_claimed"))
    }

    @Test func aSwapClaimsWhatTheRefusedLinkNamed() throws {
        let phone = try Phone(bootstrap())
        let owner = try accounts.identified()
        report()
        let refused = link(phone.token, owner.subject, ["anonymous_id": Self.id])
        #expect(refused.status == 409 && refused["claims"] == nil)
        #expect(try scene.events() == ["hi of owl_anon_phone"])
        #expect(client.send(scene.properties(.string("\(phone.userID)"), ["plan": "pro"])).status == 200)
        let answer = client.send(
            .post, "/api/v1/me/anonymous_swap",
            ["swap_ticket": refused["swap_ticket"] ?? .null, "anonymous_id": Self.id], token: phone.token)
        #expect(answer["claims"] == claims("claimed"), "\(answer)")
        #expect(try scene.events() == ["hi of \(owner.id)"])
        // What was reported under the id of the account that is gone.
        #expect(try scene.records().contains("\(phone.userID) -> \(owner.id)"))
        #expect(client.send(scene.ingest([scene.event("late", of: "\(phone.userID)")])).status == 200)
        #expect(try scene.events().contains("late of \(owner.id)"))
        try scene.expectClean()
    }

    @Test func aDryRunClaimsNothing() throws {
        let (phone, owner) = (try accounts.anonymous(), try accounts.identified())
        report()
        try app.expectUnchanged {
            let answer = try accounts.preview(phone, into: owner, [("anonymous_id", Self.id)])
            #expect(answer.status == 200 && answer["claims"] == nil)
        }
    }

    @Test func anAnswerIsRepeatedWithItsClaims() throws {
        let request = RepeatableRequest(
            method: .post, path: "/api/v1/auth/apple/session", body: app.proof().adding(["anonymous_id": Self.id]),
            headers: [("idempotency-key", "0123456789012345678901")])
        let first = client.send(request)
        #expect(first["claims"] == claims("claimed"))
        #expect(client.send(request).text == first.text)
    }

    @Test(
        arguments: [
            1, "", "owl_anon", "user-1", ["owl_anon_a"], .string("owl_anon_" + String(repeating: "x", count: 247)),
            "owl_anon_\0",
        ] as [JSONValue]) func anIDIsOneOfAnalytics(_ id: JSONValue) throws
    {
        let (phone, owner) = (try accounts.anonymous(), try accounts.identified())
        try app.expectUnchanged {
            for answer in [
                bootstrap(["anonymous_id": id]), session(["anonymous_id": id]),
                link(phone.token, "s", ["anonymous_id": id]),
                try accounts.swap(phone, into: owner, [("anonymous_id", id)]),
            ] { #expect(answer.description == refusal(400, "invalid_request")) }
        }
    }

    @Test func nullIsNoID() { #expect(session(["anonymous_id": .null])["claims"] == nil) }

    @Test func theNewestEightAreKept() throws {
        let phone = try Phone(bootstrap())
        var token = phone.token
        for number in 0..<10 {
            let answer = bootstrap([
                "device_secret": .string(phone.secret), "anonymous_id": .string("owl_anon_\(number % 9)"),
            ])
            #expect(answer["claims"] == .array([]))
            token = try #require(answer["access_token"]?.string)
        }
        let kept = try app.column("SELECT anonymous_id FROM device_anonymous_ids ORDER BY id")
        #expect(kept == [2, 3, 4, 5, 6, 7, 8, 0].map { "owl_anon_\($0)" })
        #expect(link(token).status == 200)
        #expect(try app.count("SELECT COUNT(*) FROM identity_claims") == 8)
    }

    @Test func aRefusedClaimRefusesNothingElse() throws {
        let other = try AnalyticsScene(app, team: scene.team)
        try app.change(
            "UPDATE projects SET accounts = TRUE, claim_conflict = IF(id = ?, 'refuse', 'latest')", scene.project)
        for project in [scene, other] { #expect(client.send(project.claim(Self.id, "someone")).status == 200) }
        let answer = session(["anonymous_id": Self.id])
        let user = try #require(answer["user"]?["id"]?.integer)
        let outcomes = try #require(answer["claims"]?.array).map {
            "\($0["project_id"]?.string ?? "") \($0["outcome"]?.string ?? "")"
        }
        #expect(Set(outcomes) == ["\(scene.project) claimed_by_other", "\(other.project) claimed"])
        #expect(try scene.records() == ["someone"])
        #expect(try other.records() == ["\(user)", "someone"])
        let audited = try app.column("SELECT CONCAT(user_id, details) FROM audit_log WHERE action = 'claim.refused'")
        #expect(
            audited == [#"\#(user){"project_id":"\#(scene.project)","reason":"claimed_by_other"}"#])
    }

    /// At every start of the app: no lock, no placeholder, no other row of the audit log.
    @Test func whatIsRefusedForEverCostsARead() throws {
        try app.change("UPDATE projects SET claim_conflict = 'refuse'")
        #expect(client.send(scene.claim(Self.id, "someone")).status == 200)
        let phone = try Phone(bootstrap(["anonymous_id": Self.id]))
        #expect(link(phone.token).status == 200)
        try app.expectUnchanged(butFor: ["paks", "devices", "users", "audit_log", "login_events"]) {
            let answer = bootstrap(["device_secret": .string(phone.secret), "anonymous_id": Self.id])
            #expect(answer["claims"] == claims("claimed_by_other"))
        }
        #expect(try app.count("SELECT COUNT(*) FROM audit_log WHERE action = 'claim.refused'") == 1)
    }

    /// Another user takes the phone while the link is on its way: the id is not kept there, and nothing of that phone claimed.
    @Test func aLinkClaimsNothingOfAPhoneThatIsTaken() throws {
        let phone = try Phone(bootstrap(["anonymous_id": "owl_anon_kept"]))
        let request = RepeatableRequest(
            method: .post, path: "/api/v1/me/connected_identities",
            body: app.proof("another").adding(["provider": "apple", "anonymous_id": Self.id]), token: phone.token,
            headers: [("idempotency-key", "key")])
        var taker: Int?
        let linked = try accounts.send(
            request,
            meanwhile: {
                let answer = session([
                    "device_uuid": .string(phone.uuid), "platform": "ios", "device_secret": .string(phone.secret),
                ])
                taker = answer["user"]?["id"]?.integer
            })
        #expect(linked["claims"] == claims("claimed"))
        #expect(try app.column("SELECT anonymous_id FROM device_anonymous_ids") == ["owl_anon_kept"])
        #expect(
            try app.column(
                """
                SELECT CONCAT(c.anonymous_id, ' ', u.user_id) FROM identity_claims c
                JOIN app_users u ON u.id = c.app_user_id ORDER BY c.id
                """) == ["owl_anon_kept \(try #require(taker))", "owl_anon_phone \(phone.userID)"])
    }

    @Test func onlyProjectsOfTheAccountsTakePart() throws {
        try app.change("UPDATE projects SET accounts = FALSE")
        report()
        let answer = session(["anonymous_id": Self.id])
        #expect(answer["claims"] == .array([]))
        #expect(try scene.records() == ["owl_anon_phone"])
    }
}
