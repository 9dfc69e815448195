import AnalyticsJobs
import Database
import HTTP
import JSON
import MariaDB
import TestSupport
import Testing

/// Two accounts that became one are one end user (accounts Stage 5).
@Suite struct UnitedRecordTests {
    let app: TestApp
    let scene: AnalyticsScene
    let accounts: SwapScene
    let client: Client
    let survivor: Member
    let absorbed: Member
    /// As projects name them.
    let (to, from): (String, String)

    init() throws {
        app = try TestApp()
        scene = try AnalyticsScene(app)
        accounts = try SwapScene(app)
        client = app.client()
        try app.change("UPDATE projects SET accounts = TRUE")
        try scene.makeQuestionnaire()
        (survivor, absorbed) = (try accounts.member(), try accounts.member())
        (to, from) = ("\(survivor.id)", "\(absorbed.id)")
    }

    private func merge() throws {
        let answer = try accounts.merge(absorbed.id, into: survivor)
        #expect(answer.status == 200, "\(answer)")
    }

    private func report(_ message: String, of user: String) {
        #expect(client.send(scene.ingest([scene.event(message, of: user)])).status == 200)
    }

    /// One of everything that names a user.
    private func furnish(_ user: String) throws {
        report("event", of: user)
        #expect(client.send(scene.feedback(["user_id": .string(user)])).status == 201)
        #expect(
            client.send(scene.respond(["words": "w"], ["user_id": .string(user), "is_complete": true])).status == 201)
        #expect(client.send(scene.properties(.string(user), ["name": .string(user), user: "own"])).status == 200)
        #expect(client.send(scene.claim(.string("owl_anon_of_\(user)"), .string(user))).status == 200)
    }

    private func rewritten() throws -> [String] {
        try scene.compaction(grace: .zero).run(scene.database())
        return try scene.views()
    }

    @Test func bothHaveRecords() throws {
        try furnish(to)
        try furnish(from)
        try merge()
        #expect(
            try scene.records() == [to, "\(from) -> \(to)"].sorted())
        #expect(try scene.events() == ["event of \(to)", "event of \(to)"])
        #expect(try scene.counters() == scene.countedEvents())
        #expect(
            try app.column("SELECT properties FROM app_users WHERE user_id = ?", to).first
                == #"{"name":"\#(to)","\#(to)":"own","\#(from)":"own"}"#)
        #expect(try app.column("SELECT DISTINCT user_id FROM feedback_resolved") == [to])
        #expect(
            try app.column("SELECT COALESCE(frozen_user_id, user_id) FROM questionnaire_responses_resolved ORDER BY 1")
                == [to, from].sorted())
        #expect(try app.column("SELECT DISTINCT user_id FROM identity_claims_resolved") == [to])
        try scene.expectClean()

        // What is said of the absorbed account is the survivor's, before and after compaction.
        try later(1)
        let before = try scene.views()
        #expect(try rewritten() == before)
        #expect(try app.count("SELECT COUNT(*) FROM app_users WHERE merged_at IS NOT NULL") == 0)
        try later(2)
        #expect(try scene.compaction(grace: .zero).plan(scene.database()).removed == 0)
    }

    private func later(_ number: Int) throws {
        report("late \(number)", of: from)
        report("anonymous \(number)", of: "owl_anon_of_\(from)")
        #expect(
            client.send(
                scene.ingest([scene.event("a", of: from), scene.event("b", of: to), scene.event("c", of: "new")])
            )
            .status == 200)
        #expect(client.send(scene.properties(.string(from), ["late": .string("\(number)")])).status == 200)
        #expect(client.send(scene.feedback(["user_id": .string(from)])).status == 201)
        let response = client.send(scene.respond(["words": "w"], ["user_id": .string(from), "is_complete": true]))
        #expect(response.status == 409, "\(response)")
        #expect(client.send(scene.show("survey", "&user_id=\(from)"))["reason"] == "already_responded")
        #expect(client.send(scene.claim(.string("owl_anon_late_\(number)"), .string(from))).status == 200)
        #expect(
            client.send(scene.claim(.string("owl_anon_late_\(number)"), .string(from)))["events_reassigned_count"] == 0)
        #expect(try Set(scene.events().map { $0.split(separator: " ").last ?? "" }) == [to[...], "new"])
        #expect(try app.column("SELECT DISTINCT user_id FROM feedback_resolved") == [to])
        #expect(
            try app.column("SELECT JSON_VALUE(properties, '$.late') FROM app_users WHERE user_id = ?", to)
                == ["\(number)"])
        #expect(try app.column("SELECT DISTINCT user_id FROM identity_claims_resolved") == [to])
        try scene.expectClean()
    }

    /// The survivor's is made, with what is known of the other one's clients.
    @Test func onlyTheAbsorbedHasARecord() throws {
        try furnish(from)
        let known: StaticString =
            "SELECT CONCAT_WS(' ', last_seen_at, last_sdk_name, is_dev) FROM app_users WHERE user_id = ?"
        try app.change("UPDATE app_users SET last_sdk_name = 'sdk', is_dev = TRUE WHERE user_id = ?", from)
        let (id, clients) = (try scene.recordID(of: from), try app.column(known, from))
        app.time.advance(by: .seconds(60))
        try merge()
        #expect(try scene.recordID(of: from) == id)
        #expect(try app.column(known, to) == clients)
        try later(1)
    }

    @Test func onlyTheSurvivorHasARecord() throws {
        try furnish(to)
        let id = try scene.recordID(of: to)
        try merge()
        #expect(try scene.recordID(of: to) == id)
        #expect(client.send(scene.claim(.string("owl_anon_of_\(from)"), .string(from))).status == 200)
        try later(1)
    }

    @Test func neitherHasARecord() throws {
        try merge()
        report("late", of: from)
        #expect(try scene.events() == ["late of \(to)"])
        try scene.expectClean()
    }

    @Test func aChainStaysFlat() throws {
        let last = try accounts.member()
        for user in [from, to, "\(last.id)"] { try furnish(user) }
        try merge()
        let answer = try accounts.merge(survivor.id, into: last)
        #expect(answer.status == 200)
        #expect(try scene.records() == ["\(from) -> \(last.id)", "\(to) -> \(last.id)", "\(last.id)"].sorted())
        report("late", of: from)
        #expect(try Set(scene.events().map { $0.split(separator: " ").last ?? "" }) == ["\(last.id)"])
        try scene.expectClean()
        let before = try scene.views()
        #expect(try rewritten() == before)
    }

    /// Of claims of one id by three users, the latest decides; also after its user is absorbed.
    @Test func theLatestClaimStaysTheLatest() throws {
        for user in [to, "someone", from] {
            #expect(client.send(scene.claim("owl_anon_shared", .string(user))).status == 200)
            app.time.advance(by: .seconds(1))
        }
        try merge()
        report("late", of: "owl_anon_shared")
        #expect(try scene.events() == ["late of \(to)"])
        #expect(try app.count("SELECT COUNT(*) FROM identity_claims") == 2)
        try scene.expectClean()
    }

    @Test func claimsAtTheSameInstantStayApart() throws {
        for user in [to, from] {
            #expect(client.send(scene.claim(.string("owl_anon_\(user)"), .string(user))).status == 200)
        }
        try app.change("UPDATE identity_claims SET claimed_at = '2026-01-01'")
        try merge()
        try scene.expectClean()
        #expect(try app.count("SELECT COUNT(DISTINCT claimed_at) FROM identity_claims") == 2)
    }

    /// The phone of an anonymous account that is absorbed.
    @Test func aMergeClaimsWhatTheOtherOnesDevicesKept() throws {
        let phone = try accounts.anonymous()
        let kept = client.send(
            .post, "/api/v1/devices",
            [
                "device_uuid": .string(phone.uuid), "platform": "ios", "device_secret": .string(phone.secret),
                "anonymous_id": "owl_anon_phone",
            ])
        #expect(kept.status == 200)
        report("early", of: "owl_anon_phone")
        #expect(try accounts.merge(phone.userID, into: survivor).status == 200)
        #expect(try scene.events() == ["early of \(to)"])
    }

    /// What is known of the projects is known when the account goes.
    @Test func aPurgeErasesWhereTheSettingIsOffByNow() throws {
        try furnish(to)
        #expect(client.send(.deletion(by: survivor.token)).status == 202)
        app.time.advance(by: .seconds(31 * 86_400))
        try app.purge()
        try app.change("UPDATE projects SET accounts = FALSE")
        let result = try RecordErasure(clock: app.time.clock).run(scene.database())
        #expect(result.erased == 1 && result.failures.isEmpty)
        #expect(try scene.records() == [])
        // Nobody waits where no project takes part.
        try app.change("UPDATE users SET last_active_at = '2020-01-01', anonymous = TRUE WHERE id = ?", absorbed.id)
        #expect(try app.prune(inactiveDays: 30) == [absorbed.id])
        #expect(try app.count("SELECT COUNT(*) FROM record_erasures") == 0)
    }

    /// One that cannot be erased now keeps no other waiting, and is erased by the next run.
    @Test func anErasureThatFailsStopsNoOther() throws {
        try furnish(from)
        try furnish(to)
        for member in [absorbed, survivor] { #expect(client.send(.deletion(by: member.token)).status == 202) }
        app.time.advance(by: .seconds(31 * 86_400))
        try app.purge()
        let db = try app.database.connect()
        try db.executeScript(
            """
            CREATE TRIGGER refuse BEFORE DELETE ON app_users FOR EACH ROW
            IF OLD.user_id = '\(from)' THEN SIGNAL SQLSTATE '45000'; END IF
            """)
        let erasure = RecordErasure(clock: app.time.clock)
        let first = try erasure.run(scene.database())
        #expect(first.erased == 1 && first.failures.count == 1)
        #expect(try scene.records() == [from])
        try db.executeScript("DROP TRIGGER refuse")
        #expect(try erasure.run(scene.database()).erased == 1)
        #expect(try scene.records() == [])
    }

    @Test(arguments: [false, true]) func aPurgeErasesRecords(deletesEvents: Bool) throws {
        try app.change("UPDATE projects SET purge_events = ?", deletesEvents)
        try furnish(to)
        try furnish(from)
        report("anonymous", of: "owl_anon_of_\(from)")
        let contact: KeyValuePairs<String, JSONValue?> = [
            "user_id": .string(from), "submitter_name": "Bea", "submitter_email": "bea@example.com",
        ]
        #expect(client.send(scene.feedback(contact)).status == 201)
        try app.change("UPDATE feedback SET deleted_at = created_at WHERE submitter_name = 'Bea'")
        report("other", of: "other")
        try scene.store(2_500, of: from, from: app.time.now)
        try merge()
        #expect(client.send(.deletion(by: survivor.token)).status == 202)
        app.time.advance(by: .seconds(31 * 86_400))
        #expect(try app.purge().sorted() == [survivor.id, absorbed.id].sorted())
        // Killed after any transaction.
        struct Killed: Error {}
        for steps in 1...3 {
            var left = steps
            #expect(throws: Killed.self) {
                try RecordErasure(clock: app.time.clock).run(scene.database()) {
                    left -= 1
                    if left == 0 { throw Killed() }
                }
            }
            try scene.expectClean()
        }
        #expect(try RecordErasure(clock: app.time.clock).run(scene.database()).failures.isEmpty)
        #expect(try app.count("SELECT COUNT(*) FROM feedback WHERE frozen_user_id IS NOT NULL") == 0)
        #expect(try scene.records() == ["other"])
        #expect(try app.count("SELECT COUNT(*) FROM record_erasures") == 0)
        #expect(
            try app.count("SELECT COUNT(*) FROM feedback WHERE submitter_name = 'Bea' OR submitter_email <> ''") == 0)
        #expect(try app.count("SELECT COUNT(*) FROM identity_claims") == 0)
        #expect(try app.count("SELECT COUNT(*) FROM events") == (deletesEvents ? 1 : 2_504))
        #expect(try scene.countedEvents().count == 1)
        try scene.expectClean()
    }
}
