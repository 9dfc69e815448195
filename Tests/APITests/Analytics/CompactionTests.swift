import Analytics
import AnalyticsJobs
import Database
import JSON
import MariaDB
import TestSupport
import Testing
import Time

/// Analytics §14.1, and guarantee 2 of §16.
@Suite struct CompactionTests {
    let app: TestApp
    let scene: AnalyticsScene
    let client: Client

    init() throws {
        app = try TestApp()
        scene = try AnalyticsScene(app)
        client = app.client()
    }

    private struct Killed: Error {}

    private func tombstones() throws -> Int {
        try app.count("SELECT COUNT(*) FROM app_users WHERE merged_into IS NOT NULL")
    }

    /// Two anonymous users with rows of every kind. Two users claim them, one of whom has rows of every kind, too.
    private func claimTwo() throws {
        try scene.makeQuestionnaire()
        for (user, count) in [("owl_anon_a", 2500), ("owl_anon_b", 3), ("u", 20), ("v", 1)] {
            #expect(client.send(scene.properties(.string(user), ["name": .string(user)])).status == 200)
            try scene.store(count, of: user, from: app.time.now - .seconds(86_400))
            #expect(client.send(scene.feedback(["user_id": .string(user)])).status == 201)
            #expect(client.send(scene.respond(["words": "w"], ["user_id": .string(user)])).status == 201)
        }
        #expect(
            "\(client.send(scene.claim("owl_anon_a", "u")))" == #"200 {"claimed":true,"events_reassigned_count":2500}"#)
        #expect(
            "\(client.send(scene.claim("owl_anon_b", "v")))" == #"200 {"claimed":true,"events_reassigned_count":3}"#)
        app.time.advance(by: .seconds(600))
    }

    // MARK: What reads show

    /// All rows of all views, and the answers of all reads of users, events and feedback, page by page.
    private func reads() throws -> [String] {
        let users = ["u", "v", "owl_anon_a", "owl_anon_b"]
        let lists =
            ["/v1/events?limit=200", "/v1/events?order=asc&limit=200", "/v1/app-users?limit=1"]
            + ["/v1/apps/\(scene.appID)/users?sort=first_seen", "/v1/feedback?limit=2"]
            + users.map { "/v1/events?limit=200&user_id=\($0)" }
        let single = (users.map { "&user_id=\($0)" } + [""]).map { "/v1/events/count?since=2w\($0)" }
        let answers = try single.map(read) + lists.flatMap(pages)
        return try answers.map(\.text) + scene.views()
    }

    private func read(_ path: String) throws -> Answer {
        let answer = scene.get(path, client)
        try #require(answer.status == 200, "\(path): \(answer)")
        return answer
    }

    private func pages(_ path: String) throws -> [Answer] {
        var pages = [try read(path)]
        while let cursor = pages[pages.count - 1]["cursor"]?.string {
            pages.append(try read("\(path)&cursor=\(cursor)"))
        }
        return pages
    }

    @Test func noReadChangesWhereverItIsKilled() throws {
        try claimTwo()
        let before = try reads()
        var kills = 0
        // Each run is killed after one transaction, and another one continues.
        while kills < 20 {
            do {
                try scene.compaction().run(scene.database()) { _ in throw Killed() }
                break
            } catch is Killed {
                kills += 1
                #expect(try reads() == before)
                try scene.expectClean()
            }
        }
        // One tombstone has 7500 rows, the other has 9. A transaction re-points at most a thousand. The last one of
        // each also removes the tombstone.
        #expect(kills == 9)
        #expect(try scene.records() == ["u", "v"])
        #expect(try reads() == before)
        #expect(try app.count("SELECT COUNT(*) FROM events JOIN app_users u ON u.id = app_user_id") == 2524)
        try scene.expectClean()
    }

    @Test func nothingIsDoneWithinTheGracePeriod() throws {
        try claimTwo()
        app.time.advance(by: .milliseconds(-1))
        let before = try app.database.dump()
        #expect(try scene.compaction().run(scene.database()) == Compaction.Report())
        #expect(try app.database.dump() == before)
        app.time.advance(by: .milliseconds(1))
        #expect(try scene.compaction().run(scene.database()).removed == 2)
    }

    @Test func aPlanIsWhatARunDoes() throws {
        try claimTwo()
        let before = try app.database.dump()
        let plan = try scene.compaction().plan(scene.database())
        #expect(try app.database.dump() == before)
        #expect(plan.repointed == [.events: 2503, .metricEvents: 2503, .funnelEvents: 2503])
        #expect(try scene.compaction().run(scene.database()) == plan)
        #expect(try scene.compaction().plan(scene.database()) == Compaction.Report())
    }

    @Test func noTransactionTakesMoreThanAThousandRows() throws {
        try claimTwo()
        var rows = [0]
        try scene.compaction().run(scene.database()) { rows.append($0.repointed.values.reduce(0, +)) }
        #expect(zip(rows, rows.dropFirst()).map { $1 - $0 } == Array(repeating: 1000, count: 7) + [500, 9])
    }

    /// Rows that arrive later under a claimed id go to the same owner as before.
    @Test func aClaimOutlivesItsTombstone() throws {
        try claimTwo()
        try scene.compaction().run(scene.database())
        #expect(client.send(scene.ingest([scene.event("late", of: "owl_anon_a")])).status == 200)
        #expect(try scene.events().filter { $0.hasPrefix("late") } == ["late of u"])
        #expect(
            "\(client.send(scene.claim("owl_anon_a", "u")))" == #"200 {"claimed":true,"events_reassigned_count":0}"#)
        #expect(try scene.records() == ["u", "v"])
    }

    @Test func onlyTheTombstonesRowsAreRead() throws {
        try claimTwo()
        try scene.store(100_000, of: "v", from: app.time.now - .seconds(864_000), copies: false)
        let database = try scene.database()
        let before = try rowsRead(database)
        try scene.compaction().run(database)
        // Twice the number of re-pointed rows, and a few more for each of a dozen statements.
        #expect(try rowsRead(database) - before < 20_000)
    }

    private func rowsRead(_ database: Database) throws -> Int {
        try database.read { connection in
            try connection.query("SHOW SESSION STATUS LIKE 'Handler_read%'").reduce(0) {
                $0 + (Int(String(decoding: $1[1] ?? [], as: UTF8.self)) ?? 0)
            }
        }
    }

    // MARK: What hands have done

    @Test func aRecordUnderAClaimedIDIsMerged() throws {
        #expect(client.send(scene.properties("u", ["a": "u"])).status == 200)
        #expect(client.send(scene.claim("owl_anon_a", "u")).status == 200)
        try app.change(
            """
            INSERT INTO app_users (public_id, project_id, user_id, is_anonymous, properties, first_seen_at, last_seen_at)
            VALUES (RANDOM_BYTES(16), ?, 'owl_anon_a', TRUE, '{"a":"x","b":"x"}', ?, ?)
            """, scene.project, app.time.now - .seconds(60), app.time.now)
        try scene.store(7, of: "owl_anon_a", from: app.time.now - .seconds(60))
        #expect(try Verification.run(scene.database()).map(\.invariant) == [.claimedIDsHaveNoLiveRecord])
        let merged = try scene.compaction().run(scene.database())
        #expect(merged.folded == 1)
        #expect(merged.removed == 0)
        try scene.expectClean()
        #expect(client.send(scene.properties("u", [:]))["properties"] == ["a": "u", "b": "x"])
        #expect(try scene.counters() == ["u 2026-05: 7"])
        app.time.advance(by: .seconds(600))
        #expect(try scene.compaction().run(scene.database()).removed == 1)
        #expect(try scene.records() == ["u"])
        #expect(try scene.countedEvents() == ["u 2026-05: 7"])
    }

    /// Rows that name the tombstone, in every table that may name a record.
    @Test func rowsOfEveryTableFollow() throws {
        try claimTwo()
        try app.sql { db in
            let ids = "(SELECT id FROM app_users WHERE user_id = 'owl_anon_a')"
            let owner = "(SELECT id FROM app_users WHERE user_id = 'u')"
            try db.executeScript(
                """
                UPDATE feedback SET app_user_id = \(ids), deleted_at = NOW(3) WHERE app_user_id = \(owner) LIMIT 1;
                INSERT INTO app_user_apps VALUES (\(ids), x'\(scene.appID.digits)', '2026-01-01', '2026-01-02');
                INSERT INTO app_user_event_counts VALUES (\(ids), '2026-05-01', 3);
                INSERT INTO identity_claims (project_id, anonymous_id, app_user_id, claimed_at)
                VALUES (x'\(scene.project.digits)', 'owl_anon_a', \(ids), NOW()), (x'\(scene.project.digits)', 'owl_anon_c', \(ids), NOW());
                INSERT INTO app_users (public_id, project_id, user_id, is_anonymous, merged_into, first_seen_at, last_seen_at)
                SELECT RANDOM_BYTES(16), x'\(scene.project.digits)', 'owl_anon_c', TRUE, id, NOW(), NOW() FROM app_users WHERE user_id = 'owl_anon_a';
                INSERT INTO questionnaire_responses (id, questionnaire_id, slug, app_id, project_id, app_user_id, answers,
                    status, is_dev, created_at, updated_at)
                SELECT RANDOM_BYTES(16), questionnaire_id, slug, app_id, project_id, \(ids), answers, status, is_dev, NOW(), NOW()
                FROM questionnaire_responses WHERE app_user_id = \(owner);
                """)
        }
        let report = try scene.compaction().run(scene.database())
        #expect(report.removed == 3)
        #expect(try scene.records() == ["u", "v"])
        // Rows that reached the owner through the pointer now name the owner, deleted or not.
        #expect(try app.count("SELECT COUNT(*) FROM feedback_resolved WHERE user_id = 'u'") == 2)
        #expect(try app.column("SELECT CAST(first_seen_at AS CHAR) FROM app_user_apps") == ["2026-01-01 00:00:00.000"])
        #expect(
            try app.column("SELECT anonymous_id FROM identity_claims ORDER BY 1") == [
                "owl_anon_a", "owl_anon_b", "owl_anon_c",
            ])
        // If both have a live response, the owner's stays. The other is deleted under the anonymous id.
        #expect(try scene.responses().filter { $0.hasPrefix("u survey") }.count == 1)
        #expect(
            try scene.responses().filter { $0.hasPrefix("owl_anon_a survey") && $0.hasSuffix("frozen deleted") }.count
                == 2)
        #expect(
            try Verification.run(scene.database()).map(\.invariant) == [.countersEqualRows])
    }

    // MARK: Races

    /// Ingest, claims, properties, feedback and questionnaires of the same users on 16 connections. Four of them
    /// compact.
    @Test func besideWritersOfTheSameIDs() throws {
        try scene.makeQuestionnaire()
        let (scene, app) = (scene, app)
        let (threads, rounds, people) = (20, 12, 3)
        let failures = app.race(threads, rounds: rounds) { client, thread, round in
            if thread >= 16 {
                return scene.ending { _ = try scene.compaction(grace: .zero).run(scene.database()) }
            }
            let person = thread % people
            let anonymous = "owl_anon_\(round / 3)_\(person)_\(thread % 2)"
            let user = "u\(person)"
            let id = round * threads + thread
            let request =
                switch thread / 4 {
                case 0: scene.ingest([scene.event("metric:m:record", of: anonymous, id: id, at: "2026-05-11")])
                case 1: scene.ingest([scene.event("step:s", of: user, id: id, at: "2026-05-11")])
                case 2: scene.claim(.string(anonymous), .string(user))
                default:
                    thread % 2 == 0
                        ? scene.feedback(["user_id": .string(anonymous)])
                        : scene.respond(["words": "w"], ["user_id": .string(anonymous)])
                }
            let answer = client.sendUntilServed(request)
            return [200, 201].contains(answer.status) ? nil : "\(answer)"
        }
        #expect(failures.joined().compactMap(\.self) == [])
        try scene.expectClean()
        try scene.compaction(grace: .zero).run(scene.database())
        try scene.expectClean()
        #expect(try tombstones() == 0)
        // Each event exists once, with its copy. It belongs to a user once the ids are claimed.
        #expect(try app.count("SELECT COUNT(*) FROM events") == rounds * 8)
        #expect(try app.count("SELECT COUNT(*) FROM metric_events") == rounds * 4)
        #expect(try app.count("SELECT COUNT(*) FROM funnel_events") == rounds * 4)
        #expect(
            try app.count(
                """
                SELECT COUNT(*) FROM events_resolved e
                JOIN identity_claims c ON c.anonymous_id = e.user_id AND c.project_id = ?
                """, scene.project) == 0)
        #expect(try scene.counters() == scene.countedEvents())
    }

    @Test func onSeveralNodesAtOnce() throws {
        try claimTwo()
        let before = try scene.views()
        let scene = scene
        let reports = app.atOnce(4) { _, _ in try? scene.compaction().run(scene.database()) }
        #expect(reports.compactMap { $0?.removed }.reduce(0, +) == 2)
        #expect(reports.compactMap { $0?.repointed[.events] }.reduce(0, +) == 2503)
        #expect(try scene.views() == before)
        try scene.expectClean()
    }

    /// A writer that holds the tombstone's lock may still store rows by what it has read.
    @Test func aTombstoneInUseIsWaitedFor() throws {
        try claimTwo()
        let writer = try app.database.connect()
        try writer.executeScript("START TRANSACTION; SELECT id FROM app_users WHERE user_id = 'owl_anon_b' FOR UPDATE")
        let scene = scene
        let job = JobThread { _ = try scene.compaction().run(scene.database()) }
        try app.waitForALockWait()
        #expect(try app.count("SELECT COUNT(*) FROM app_users WHERE user_id = 'owl_anon_b'") == 1)
        try writer.executeScript("ROLLBACK")
        #expect(job.failure == nil)
        #expect(try scene.records() == ["u", "v"])
    }
}
