import Analytics
import AnalyticsJobs
import Database
import JSON
import MariaDB
import TestSupport
import Testing
import Threads
import Time

/// Analytics §14.2. The clock starts at 2026-05-12T07:00:00Z.
@Suite struct RetentionTests {
    let app: TestApp
    let scene: AnalyticsScene
    let client: Client

    init() throws {
        app = try TestApp()
        scene = try AnalyticsScene(app)
        client = app.client()
    }

    private struct Killed: Error {}

    private func day(_ year: Int, _ month: Int, _ day: Int) -> Timestamp {
        Timestamp(CivilTime(year: year, month: month, day: day))
    }

    private func partitions() throws -> [String] {
        try app.column(
            """
            SELECT PARTITION_NAME FROM information_schema.PARTITIONS
            WHERE TABLE_SCHEMA = ? AND TABLE_NAME = 'events' ORDER BY PARTITION_ORDINAL_POSITION
            """, app.database.name)
    }

    private func horizon() throws -> String {
        try app.column("SELECT CAST(DATE(horizon) AS CHAR) FROM retention_horizons WHERE table_name = 'events'")[0]
    }

    private func retention() -> Retention { scene.retention(of: .events) }

    /// Users with events before and after 15 February, four of whom are merged into two. Then the clock moves to 15
    /// June.
    private func live() throws {
        try retention().makeMonths(scene.database())
        for user in ["owl_anon_a", "owl_anon_b", "u", "v"] {
            #expect(client.send(scene.properties(.string(user), ["a": "b"])).status == 200)
            for (time, count) in [(day(2026, 1, 9), 30), (day(2026, 2, 3), 700), (day(2026, 5, 1), 5)] {
                try scene.store(count, of: user, from: time, copies: false)
            }
        }
        #expect(client.send(scene.claim("owl_anon_a", "u")).status == 200)
        app.time.advance(by: day(2026, 6, 15) - app.time.now)
    }

    // MARK: Months

    @Test func monthsAreMadeAhead() throws {
        let months = ["p202601", "p202602", "p202603", "p202604", "p202605", "p202606", "p202607", "p202608"]
        let made = try retention().makeMonths(scene.database())
        #expect(made.map { "p" + $0.description.filter { $0 != "-" } } == months)
        #expect(try partitions() == months + ["later"])
        #expect(try retention().makeMonths(scene.database()).isEmpty)
        app.time.advance(by: day(2026, 6, 1) - app.time.now)
        #expect(try retention().makeMonths(scene.database()).map(\.description) == ["2026-09"])
        #expect(try partitions() == months + ["p202609", "later"])
        for table in [EventTable.metricEvents, .funnelEvents] {
            #expect(try scene.retention(of: table).makeMonths(scene.database()).count == 16)
        }
    }

    /// The job did not run for a long time: newer events are in the last partition.
    @Test func rowsAlreadyThereFindTheirMonth() throws {
        #expect(client.send(scene.properties("u", ["a": "b"])).status == 200)
        for time in [day(2019, 1, 1), day(2026, 1, 31), day(2026, 5, 1), day(2033, 1, 1)] {
            try scene.store(2, of: "u", from: time, copies: false)
        }
        let before = try scene.views()
        try retention().makeMonths(scene.database())
        let rows = try app.sql { db in
            try db.query(
                """
                SELECT (SELECT COUNT(*) FROM events PARTITION (p202601)), (SELECT COUNT(*) FROM events PARTITION (p202605)),
                       (SELECT COUNT(*) FROM events PARTITION (later))
                """)[0].map { String(decoding: $0 ?? [], as: UTF8.self) }
        }
        #expect(rows == ["4", "2", "2"])
        #expect(try scene.views() == before)
        // Before the first month, between months, and after the last one.
        for time in [day(2001, 1, 1), day(2026, 8, 31), day(2040, 1, 1)] {
            try scene.store(1, of: "u", from: time, copies: false)
        }
    }

    // MARK: What goes

    @Test func monthsGoWholeAndTheRestByProject() throws {
        try live()
        let plan = try retention().plan(scene.database())
        let report = try retention().run(scene.database())
        #expect(report == plan)
        #expect(report.horizon == day(2026, 2, 1))
        #expect(report.dropped == ["p202601"])
        // The counters of u, v and owl_anon_b. The merge has removed those of owl_anon_a.
        #expect(report.countersDeleted == 3)
        #expect(report.rowsDeleted == 4 * 700)
        #expect(report.monthsMade.map(\.description) == ["2026-09"])
        #expect(try partitions().first == "p202602")
        #expect(try scene.counters() == ["owl_anon_b 2026-05: 5", "u 2026-05: 10", "v 2026-05: 5"])
        try scene.expectClean()
        let again = try retention().run(scene.database())
        #expect(again.rowsDeleted == 0 && again.dropped.isEmpty && again.horizon == day(2026, 2, 1))
        #expect(
            "\(client.send(scene.claim("owl_anon_b", "v")))" == #"200 {"claimed":true,"events_reassigned_count":5}"#)
    }

    @Test func aPlanChangesNothing() throws {
        try live()
        let (before, partitions) = (try app.database.dump(), try partitions())
        for table in EventTable.allCases { _ = try scene.retention(of: table).plan(scene.database()) }
        #expect(try app.database.dump() == before)
        #expect(try self.partitions() == partitions)
    }

    @Test func noTransactionDeletesMoreThanAChunk() throws {
        try live()
        var rows = [0]
        try retention().run(scene.database()) { rows.append($0.rowsDeleted) }
        #expect(rows.last == 2800)
        #expect(zip(rows, rows.dropFirst()).allSatisfy { $1 - $0 <= Retention.chunk && $1 - $0 <= 5000 })
    }

    /// As soon as the horizon has moved, older rows count for nobody, even if they are not dropped yet.
    @Test func whereverItIsKilledAnotherRunGoesOn() throws {
        try live()
        var kills = 0
        while kills < 20 {
            do {
                try retention().run(scene.database()) { _ in throw Killed() }
                break
            } catch is Killed {
                kills += 1
                #expect(try horizon() == "2026-02-01")
                #expect(try app.count("SELECT COUNT(*) FROM events_resolved WHERE timestamp < '2026-02-01'") == 0)
                try scene.expectClean()
                #expect(try scene.counters().filter { !$0.contains("2026-01") } == scene.countedEvents())
            }
        }
        // After the horizon, the partition, the counters, and three chunks.
        #expect(kills == 6)
        #expect(try scene.counters() == ["owl_anon_b 2026-05: 5", "u 2026-05: 10", "v 2026-05: 5"])
        #expect(try app.count("SELECT COUNT(*) FROM events") == 20)
    }

    @Test func eachProjectKeepsItsOwnEvents() throws {
        let other = try AnalyticsScene(app, team: scene.team)
        let app = app
        try app.change("UPDATE projects SET retention_days_events = 10 WHERE id = ?", scene.project)
        for scene in [scene, other] {
            #expect(client.send(scene.properties("owl_anon_a", ["a": "b"])).status == 200)
            #expect(client.send(scene.properties("u", ["a": "b"])).status == 200)
            for user in ["owl_anon_a", "u"] {
                try scene.store(40, of: user, from: day(2026, 5, 1))
                try scene.store(60, of: user, from: day(2026, 5, 3), copies: false)
            }
            #expect(client.send(scene.claim("owl_anon_a", "u")).status == 200)
        }
        for table in EventTable.allCases {
            let report = try scene.retention(of: table).run(scene.database())
            #expect(report.rowsDeleted == (table == .events ? 80 : 0))
            #expect(report.dropped.isEmpty)
        }
        #expect(try scene.counters().sorted() == ["u 2026-05: 120", "u 2026-05: 200"])
        #expect(try app.count("SELECT COUNT(*) FROM metric_events") == 160)
        try scene.expectClean()
    }

    @Test func metricsAndFunnelsHaveTimesOfTheirOwn() throws {
        #expect(client.send(scene.properties("u", ["a": "b"])).status == 200)
        try scene.store(30, of: "u", from: day(2026, 5, 1))
        try app.change("UPDATE projects SET retention_days_metrics = 1, retention_days_funnels = 30")
        for table in EventTable.allCases { try scene.retention(of: table).run(scene.database()) }
        #expect(try app.count("SELECT COUNT(*) FROM events") == 30)
        #expect(try app.count("SELECT COUNT(*) FROM metric_events") == 0)
        #expect(try app.count("SELECT COUNT(*) FROM funnel_events") == 30)
    }

    /// Copies are kept for longer than their event, which is new when it comes again.
    @Test(arguments: [false, true]) func anEventThatComesAgainHasItsCopiesOnce(isImported: Bool) throws {
        try app.change("UPDATE projects SET retention_days_events = 7")
        let events = ["metric:pay:complete", "step:pay"].enumerated().map { index, message in
            scene.event(message, of: "u", id: index, at: "2026-05-02T07:00:00Z")
        }
        for _ in 0..<3 {
            let answer = client.send(isImported ? scene.importing(events) : scene.ingest(events))
            #expect(answer["accepted"] == 2, "\(answer)")
            try retention().run(scene.database())
            #expect(try app.count("SELECT COUNT(*) FROM events") == 0)
            #expect(try app.count("SELECT COUNT(*) FROM metric_events") == 1)
            #expect(try app.count("SELECT COUNT(*) FROM funnel_events") == 1)
        }
    }

    @Test func aRowThatNamesNobodyGoesToo() throws {
        try live()
        try app.change("UPDATE events SET app_user_id = 77 WHERE timestamp > '2026-02-01' ORDER BY timestamp LIMIT 1")
        #expect(try retention().run(scene.database()).rowsDeleted == 2800)
    }

    // MARK: The horizon

    @Test func everyProjectHoldsTheHorizonBackADeletedOneToo() throws {
        let other = try AnalyticsScene(app, team: scene.team)
        try live()
        try app.change(
            "UPDATE projects SET retention_days_events = 150, deleted_at = created_at WHERE id = ?", other.project)
        #expect(try retention().run(scene.database()).dropped.isEmpty)
        #expect(try horizon() == "1970-01-01")
    }

    @Test func whatIsBeforeItIsNotTaken() throws {
        try live()
        try retention().run(scene.database())
        let old = scene.event("old", of: "owl_anon_c", id: 1, at: "2026-01-31T23:59:59.999Z")
        let message = #"{"index":0,"message":"events[0]: timestamp is older than the retention period"}"#
        #expect("\(client.send(scene.importing([old])))".contains(message))
        let young = scene.event("young", of: "owl_anon_c", id: 2, at: "2026-02-01T00:00:00.000Z")
        #expect(client.send(scene.importing([young]))["accepted"] == 1)
        try scene.expectClean()
    }

    /// A run ended after it had moved the horizon. Then an operator chose a longer retention.
    @Test func itMovesBackOnlyBehindACompleteDrop() throws {
        try live()
        #expect(throws: Killed.self) { try retention().run(scene.database()) { _ in throw Killed() } }
        #expect(try horizon() == "2026-02-01")
        #expect(try partitions().first == "p202601")
        try app.change("UPDATE projects SET retention_days_events = 200")
        var horizons: [Timestamp] = []
        let report = try retention().run(scene.database()) { report in
            horizons.append(report.horizon)
            let dead = try app.count("SELECT COUNT(*) FROM events WHERE timestamp < '2026-02-01'")
            let counters = try app.count("SELECT COUNT(*) FROM app_user_event_counts WHERE month < '2026-02-01'")
            if report.horizon < day(2026, 2, 1) { #expect(dead == 0 && counters == 0) }
        }
        #expect(report.dropped == ["p202601"])
        #expect(horizons == [day(2026, 2, 1), day(2026, 2, 1), day(2025, 11, 1)])
        #expect(try horizon() == "2025-11-01")
        // No dead row has come back to life, and older events are accepted again.
        #expect(try app.count("SELECT COUNT(*) FROM events_resolved WHERE timestamp < '2026-02-01'") == 0)
        let event = scene.event("old", of: "u", id: 1, at: "2025-12-31")
        #expect(client.send(scene.importing([event]))["accepted"] == 1)
        #expect(try scene.counters().contains("u 2025-12: 1"))
        try scene.expectClean()
    }

    /// A writer that has read the horizon may still insert an event from before the next horizon.
    @Test func itWaitsForWritersThatRelyOnIt() throws {
        try live()
        let writer = try app.database.connect()
        try writer.executeScript(
            "START TRANSACTION; SELECT horizon FROM retention_horizons WHERE table_name = 'events' LOCK IN SHARE MODE")
        let scene = scene
        let job = JobThread { try scene.retention(of: .events).run(scene.database()) }
        try app.waitForALockWait()
        #expect(try horizon() == "1970-01-01")
        #expect(try partitions().first == "p202601")
        try writer.executeScript("ROLLBACK")
        #expect(job.failure == nil)
        #expect(try horizon() == "2026-02-01")
    }

    // MARK: Races

    /// A partition cannot be dropped while a transaction uses the table. While the job tries to drop it, nobody else
    /// can use the table.
    @Test func aTableInUseIsWaitedFor() throws {
        try live()
        let user = try app.database.connect()
        try user.executeScript("START TRANSACTION; SELECT COUNT(*) FROM events")
        let (app, said) = (app, Monitor<[String]>([]))
        let job = JobThread {
            var options = app.database.options
            options.lockWaitTimeout = .seconds(1)
            let retention = Retention(of: .events, clock: app.time.clock) { line in said.change { $0.append(line) } }
            try retention.run(Database(options))
        }
        let line = said.wait(atMost: .seconds(30)) { $0.first { $0.contains("again in a second") } }
        #expect(line != nil)
        #expect(client.send(scene.ingest([scene.event("June", of: "u", id: 1, at: "2026-06-14")])).status == 200)
        try user.executeScript("ROLLBACK")
        #expect(job.failure == nil)
        #expect(try partitions().first == "p202602")
        try scene.expectClean()
    }

    /// Imports of old and new events, claims and merges on 16 connections. Two of them run retention, two run
    /// compaction.
    @Test func besideWriters() throws {
        try live()
        let (scene, app) = (scene, app)
        let rounds = 8
        let answers = app.race(20, rounds: rounds) { client, thread, round in
            if thread >= 16 {
                return scene.ending {
                    if thread >= 18 {
                        _ = try scene.compaction(grace: .zero).run(scene.database())
                    } else {
                        _ = try scene.retention(of: .events).run(scene.database())
                    }
                }
            }
            let anonymous = "owl_anon_\(round / 2)_\(thread % 3)"
            let id = round * 20 + thread
            let request =
                switch thread / 4 {
                case 0:
                    scene.importing([
                        scene.event("January", of: anonymous, id: id, at: "2026-01-31T23:00:00Z"),
                        scene.event("June", of: anonymous, id: 1000 + id, at: "2026-06-14"),
                    ])
                case 1: scene.importing([scene.event("February", of: anonymous, id: id, at: "2026-02-10")])
                case 2: scene.claim(.string(anonymous), .string(thread % 2 == 0 ? "u" : "v"))
                default: scene.ingest([scene.event("June", of: "u", id: id, at: "2026-06-14")])
                }
            let answer = client.sendUntilServed(request)
            return answer.status == 200 ? nil : "\(answer)"
        }
        #expect(answers.joined().compactMap(\.self) == [])
        try scene.expectClean()
        try retention().run(scene.database())
        try scene.expectClean()
        #expect(try horizon() == "2026-02-01")
        #expect(try app.count("SELECT COUNT(*) FROM events WHERE timestamp < '2026-02-15'") == 0)
        #expect(try app.count("SELECT COUNT(*) FROM events WHERE message = 'June'") == rounds * 8)
        #expect(try scene.counters() == scene.countedEvents())
    }

    @Test func onSeveralNodesAtOnce() throws {
        try live()
        let scene = scene
        let reports = app.atOnce(4) { _, _ in try? scene.retention(of: .events).run(scene.database()) }
        #expect(reports.compactMap { $0?.horizon } == Array(repeating: day(2026, 2, 1), count: 4))
        #expect(reports.compactMap { $0?.rowsDeleted }.reduce(0, +) == 2800)
        #expect(reports.compactMap { $0?.dropped }.joined().sorted() == ["p202601"])
        #expect(reports.compactMap { $0?.monthsMade.count }.reduce(0, +) == 1)
        #expect(try scene.counters() == ["owl_anon_b 2026-05: 5", "u 2026-05: 10", "v 2026-05: 5"])
        try scene.expectClean()
    }
}
