import Accounts
import Analytics
import AnalyticsJobs
import Database
import JSON
import MariaDB
import SignInClaims
import Synchronization
import TestSupport
import Testing
import Time

/// What a merge did to records can be taken back (accounts Stage 6).
@Suite struct RecordUndoTests {
    private func world(_ seed: UInt64) throws -> RecordWorld { try RecordWorld(TestApp(), seed: seed) }

    @Test func mergeThenUndoChangesNothing() throws {
        let world = try world(1)
        var (events, rows) = (0, 0)
        for round in 0..<240 {
            try world.renew()
            try world.scenes[0].expectClean()
            let (before, readers) = (try world.rows(), try world.readers())
            world.app.time.advance(by: .seconds(1))
            let journal = try #require(try world.merge())
            try world.scenes[0].expectClean()
            #expect(try world.rows() != before)
            // As it is stored.
            let stored = try RecordsJournal(json: journal.json())
            #expect(stored == journal)
            world.app.time.advance(by: .seconds(1))
            #expect(try world.undo(stored) == [])
            let after = try world.rows()
            try #require(after == before, "round \(round): \(after.symmetricDifference(before).sorted())")
            #expect(try world.readers() == readers)
            try world.scenes[0].expectClean()
            events += readers.count
            rows += before.count
        }
        #expect(events > 1_000 && rows > 10_000)
    }

    /// More than a statement holds.
    @Test func manyLongClaimsGoBack() throws {
        let world = try world(2)
        repeat { try world.renew() } while try world.scenes[0].recordID(of: "101") == nil
        try world.db.execute(
            """
            INSERT INTO identity_claims (project_id, anonymous_id, app_user_id, claimed_at)
            SELECT u.project_id, RPAD(CONCAT('owl_anon_', seq, '_'), 255, 'x'), u.id,
                   u.first_seen_at + INTERVAL seq MICROSECOND
            FROM app_users u JOIN seq_1_to_45000 WHERE u.id = ?
            """, try world.scenes[0].recordID(of: "101"))
        let before = try world.rows()
        let journal = try #require(try world.merge())
        #expect(try world.undo(journal) == [])
        let after = try world.rows()
        #expect(after.symmetricDifference(before).sorted().prefix(3) == [])
    }

    @Test func whatChangedMeanwhileStaysOrRefuses() throws {
        let world = try world(2)
        var reasons: [RecordConflict.Reason: Int] = [:]
        var clean = 0
        for round in 0..<120 {
            try world.renew()
            var readers = try world.readers()
            let former = try FormerRows(world)
            world.app.time.advance(by: .seconds(1))
            let journal = try #require(try world.merge())
            world.app.time.advance(by: .seconds(1))
            let late = ["101", "102"] + RecordWorld.kept.map(\.rawValue)
            let answer = world.app.client().send(
                world.scenes[0].ingest(late.map { world.scenes[0].event("late of \($0)", of: $0) }))
            #expect(answer.status == 200)
            readers.merge(try world.readers().filter { $0.key.hasPrefix("late") }) { $1 }

            let meanwhile = try former.change(world)
            for (message, reader) in readers where meanwhile.staying.contains(reader) {
                if !message.hasPrefix("early in \(world.scenes[1].project)") { readers[message] = "102" }
            }
            for conflict in meanwhile.conflicts { reasons[conflict.reason, default: 0] += 1 }
            let expected = meanwhile.conflicts.sorted { $0.order < $1.order }
            if expected.isEmpty {
                clean += 1
            } else {
                let before = try world.rows()
                let found = try world.undo(journal).sorted { $0.order < $1.order }
                try #require(found == expected, "round \(round)")
                #expect(try world.rows() == before)
            }
            let kept = try world.undo(journal, keepChanged: true).sorted { $0.order < $1.order }
            try #require(kept == expected, "round \(round)")
            let found = try world.readers()
            try #require(found == readers, "round \(round): \(found.filter { readers[$0.key] != $0.value })")
            try world.scenes[0].expectClean()
        }
        #expect(reasons.count == 4 && reasons.values.allSatisfy { $0 > 5 } && clean > 5, "\(reasons) \(clean)")
    }

    /// Of two undos one finds the records as the merge left them. Events are stored once, before it or after it.
    @Test func anUndoBesideOthers() throws {
        let world = try world(3)
        let scene = world.scenes[0]
        for round in 0..<24 {
            try world.renew()
            let readers = try world.readers()
            world.app.time.advance(by: .seconds(1))
            let journal = try #require(try world.merge())
            world.app.time.advance(by: .seconds(1))
            let users = ["101", "102"] + RecordWorld.kept.map(\.rawValue)
            let requests =
                [scene.ingest(users.map { scene.event("batch of \($0)", of: $0) })]
                + users.map { scene.ingest([scene.event("late of \($0)", of: $0)]) }
                + ["101", "102"].map { scene.claim(.string("owl_anon_new_\($0)"), .string($0)) }
            let undone = Mutex<[[RecordConflict]]>([])
            let clock = world.app.time.clock
            let (options, app) = (world.app.database.options, world.app)
            let threads =
                (0..<2).map { _ in
                    JobThread {
                        let conflicts = try Analytics.write(Database(options), at: clock) {
                            try $0.undo(journal, keepChanged: false)
                        }
                        undone.withLock { $0.append(conflicts) }
                    }
                }
                + requests.map { request in
                    JobThread {
                        let answer = app.client().send(request)
                        #expect(answer.status == 200, "\(answer)")
                    }
                }
            for thread in threads { #expect(thread.failure == nil, "round \(round)") }
            let results = undone.withLock { $0 }
            #expect(results.count == 2 && results.filter(\.isEmpty).count == 1, "round \(round): \(results)")
            try scene.expectClean()
            let found = try world.readers()
            #expect(found.filter { readers[$0.key] != nil } == readers, "round \(round)")
            #expect(try world.app.count("SELECT COUNT(*) FROM events") == readers.count + 10)
            #expect(app.client().send(scene.ingest([scene.event("own", of: "101")])).status == 200)
            #expect(try world.readers()["own"] == "101")
        }
    }

    @Test func compactionWaitsForTheWindow() throws {
        let world = try world(4)
        let window = Duration.seconds(14 * 86_400)
        var late = 0
        for _ in 0..<16 {
            try world.renew()
            let readers = try world.readers()
            let hadRecord = try world.scenes[0].recordID(of: "101") != nil
            let journal = try #require(try world.merge())
            world.app.time.advance(by: window - .seconds(1))
            func compact() throws {
                try Compaction(grace: .zero, undoWindow: window, clock: world.app.time.clock).run(world.database)
            }
            try compact()
            #expect(try world.undo(journal) == [])
            #expect(try world.readers() == readers)
            try world.scenes[0].expectClean()

            let again = try #require(try world.merge())
            world.app.time.advance(by: window)
            try compact()
            let (rows, united) = (try world.rows(), try world.readers())
            let conflicts = try world.undo(again)
            #expect(try world.rows() == rows)
            guard hadRecord else { continue }
            late += 1
            #expect(conflicts.contains { $0.reason == .changed && $0.table == "app_users" })
            #expect(try world.undo(again, keepChanged: true) == conflicts)
            #expect(try world.readers() == united)
            try world.scenes[0].expectClean()
        }
        #expect(late > 5)
    }

    /// Where no account takes part nothing waits.
    @Test func otherProjectsAreCompactedAfterTheirGrace() throws {
        let world = try world(5)
        try world.renew()
        try world.app.change("UPDATE projects SET accounts = FALSE WHERE id = ?", world.scenes[1].project)
        let compaction = Compaction(
            grace: .seconds(60), undoWindow: .seconds(365 * 86_400), clock: world.app.time.clock)
        try compaction.run(world.database)
        let left = try world.app.column(
            """
            SELECT DISTINCT HEX(project_id) FROM app_users WHERE merged_at IS NOT NULL
            """)
        #expect(left == [hexadecimal(world.scenes[0].project)])
    }

    /// Events that retention deleted count for nobody afterwards.
    @Test(arguments: 10..<16 as Range<UInt64>) func retentionGoesOn(seed: UInt64) throws {
        let world = try world(seed)
        try world.renew()
        let readers = try world.readers()
        let journal = try #require(try world.merge())
        try world.app.change("UPDATE projects SET retention_days_events = 20")
        for scene in world.scenes { try scene.retention(of: .events).run(world.database) }
        let left = try world.readers()
        #expect(left.count < readers.count)
        #expect(try world.undo(journal) == [])
        #expect(try world.readers() == readers.filter { left[$0.key] != nil })
        try world.scenes[0].expectClean()
    }

    /// What is kept for an undo costs a merge four statements, however much moves; a merge without costs none.
    @Test func aJournalCostsFourStatements() throws {
        func statements(keepsJournal: Bool) throws -> Int {
            let world = try world(6)
            try world.renew()
            func executed() throws -> Int {
                try world.database.read { db in
                    let row = try db.query("SHOW SESSION STATUS LIKE 'Com_stmt_execute'").first
                    return Int(String(decoding: row?[1] ?? [], as: UTF8.self)) ?? 0
                }
            }
            let before = try executed()
            #expect(try (world.merge(keepsJournal: keepsJournal) != nil) == keepsJournal)
            return try executed() - before
        }
        #expect(try statements(keepsJournal: true) == statements(keepsJournal: false) + 4)
    }

    /// A record that a late event makes between the look and the claim is in the journal, too.
    @Test func aRecordMadeMeanwhileGoesBack() throws {
        let world = try world(9)
        let scene = world.scenes[0]
        let id = RecordWorld.kept[0]
        try scene.insertUser("102")
        var attempts = 0
        let journal = try Analytics.write(world.database, at: world.app.time.clock) { transaction in
            try transaction.unite(
                RecordWorld.absorbed, into: RecordWorld.survivor, claiming: { [id] }, keepsJournal: true
            ) {
                attempts += 1
                if attempts == 1 { try scene.insertFeedback("words", of: scene.insertUser(id.rawValue)) }
                _ = try transaction.claim($0, for: RecordWorld.survivor)
            }
        }
        #expect(attempts == 2)
        try world.app.database.settle()
        #expect(try world.app.column("SELECT user_id FROM feedback_resolved") == ["102"])
        #expect(try world.undo(try #require(journal)) == [])
        try world.app.database.settle()
        #expect(try world.app.column("SELECT user_id FROM feedback_resolved") == [id.rawValue])
        #expect(try scene.records() == ["102", id.rawValue])
        try scene.expectClean()
    }
}

/// What the records of the first project were before a merge, and what may happen to them after it.
private struct FormerRows {
    private let absorbed: Int64?
    private let properties: [String: String]
    /// Keys of those whose records the merge claims, and of the survivor.
    private let otherKeys: Set<String>
    private let keptRecords: [Int64]
    private let claims: [Int64]
    private let rows: [(table: String, key: String)]

    struct Meanwhile {
        var conflicts: [RecordConflict] = []
        /// Users whose records stay tombstones.
        var staying: Set<String> = []
    }

    init(_ world: RecordWorld) throws {
        let scene = world.scenes[0]
        let db = world.db
        absorbed = try scene.recordID(of: "101")
        func properties(of user: String) throws -> [String: String] {
            let text = try db.first(
                "SELECT COALESCE(properties, '{}') FROM app_users WHERE project_id = ? AND user_id = ?", scene.project,
                user
            ) { row in try row.read(String.self) }
            guard let text, case .object(let object) = try JSONValue(json: Array(text.utf8)) else { return [:] }
            return Dictionary(uniqueKeysWithValues: object.members.map { ($0.name, $0.value.string ?? "") })
        }
        self.properties = try properties(of: "101")
        otherKeys = Set(
            try (["102"] + RecordWorld.kept.map(\.rawValue)).flatMap { try properties(of: $0).keys })
        keptRecords = try RecordWorld.kept.compactMap { try scene.recordID(of: $0.rawValue) }
        claims = try db.all("SELECT id FROM identity_claims WHERE app_user_id = ?", absorbed) { row in try row.read() }
        rows = try db.all(
            """
            SELECT 'feedback', HEX(id) FROM feedback WHERE app_user_id = ?
            UNION ALL SELECT 'event_attachments', HEX(id) FROM event_attachments WHERE app_user_id = ?
            UNION ALL SELECT 'issue_occurrences', HEX(id) FROM issue_occurrences WHERE app_user_id = ?
            UNION ALL SELECT 'questionnaire_responses', HEX(id) FROM questionnaire_responses WHERE app_user_id = ?
            """, absorbed, absorbed, absorbed, absorbed
        ) { row in (try row.read(), try row.read()) }
    }

    /// Does some of what may happen after a merge.
    func change(_ world: RecordWorld) throws -> Meanwhile {
        var result = Meanwhile()
        func note(_ table: String, _ key: String, _ reason: RecordConflict.Reason) {
            result.conflicts.append(RecordConflict(table: table, key: key, reason: reason))
        }
        let db = world.db
        let scene = world.scenes[0]
        let survivor = try #require(try scene.recordID(of: "102"))
        let other = try #require(try scene.recordID(of: "103"))
        if world.chance(40), let taken = world.any(of: keptRecords) {
            let name = try #require(
                try db.first(
                    "SELECT user_id FROM app_users WHERE id = ? AND merged_into = ?", taken, survivor
                ) { row in try row.read(String.self) } ?? .some(""))
            if !name.isEmpty {
                try db.execute(
                    """
                    INSERT INTO identity_claims (project_id, anonymous_id, app_user_id, claimed_at) VALUES (?, ?, ?, ?)
                    """, scene.project, name, other, world.app.time.now)
                note("app_users", "\(taken)", .taken)
                result.staying.insert(name)
            }
        }
        guard let absorbed else { return result }
        if world.chance(10) {
            try db.execute("UPDATE app_users SET merged_at = NULL WHERE id = ?", absorbed)
            note("app_users", "\(absorbed)", .changed)
            // With what it had claimed.
            result.staying.insert("101")
            return result
        }
        // A property that the survivor has from nobody else.
        let given = properties.filter { !otherKeys.contains($0.key) }.keys.sorted().filter { _ in world.chance(5) }
        for key in given {
            let path = "$.\"\(key)\""
            let isGiven = try db.first(
                "SELECT JSON_EXISTS(properties, ?) FROM app_users WHERE id = ?", path, survivor
            ) { row in try row.read(Bool?.self) }
            guard isGiven == true else { continue }
            if world.chance(50) {
                try db.execute(
                    "UPDATE app_users SET properties = JSON_SET(properties, ?, 'new') WHERE id = ?", path, survivor)
            } else {
                try db.execute(
                    "UPDATE app_users SET properties = JSON_REMOVE(properties, ?) WHERE id = ?", path, survivor)
            }
            note("app_users", "\(survivor) \(key)", .changed)
        }
        for claim in claims where world.chance(15) {
            let isLeft = try db.first("SELECT 1 FROM identity_claims WHERE id = ?", claim) { row in
                try row.read(Int.self)
            }
            if isLeft == nil { continue }
            switch world.number(0...2) {
            case 0:
                try db.execute("DELETE FROM identity_claims WHERE id = ?", claim)
                note("identity_claims", "\(claim)", .missing)
            case 1:
                try db.execute(
                    "UPDATE identity_claims SET claimed_at = ? + INTERVAL id MICROSECOND WHERE id = ?",
                    world.app.time.now,
                    claim)
                note("identity_claims", "\(claim)", .changed)
            default:
                let moved = try db.execute(
                    """
                    UPDATE identity_claims c SET app_user_id = ?, claimed_at = ? + INTERVAL id MICROSECOND
                    WHERE id = ? AND anonymous_id NOT LIKE 'owl_anon_shared%'
                    """, other, world.app.time.now, claim)
                if moved.affectedRows > 0 { note("identity_claims", "\(claim)", .moved) }
            }
        }
        for row in rows where world.chance(15) {
            let (isErased, hasTime) = (world.chance(30), ["feedback", "questionnaire_responses"].contains(row.table))
            let key = "WHERE id = x'\(row.key)'"
            let owner = try #require(try db.query("SELECT app_user_id FROM \(row.table) \(key)").first)[0]
            if isErased {
                try db.executeScript("DELETE FROM \(row.table) \(key)")
            } else if owner == nil {
                try db.executeScript("UPDATE \(row.table) SET frozen_user_id = NULL \(key)")
                note(row.table, row.key, .changed)
            } else if hasTime, world.chance(50) {
                try db.executeScript("UPDATE \(row.table) SET updated_at = updated_at + INTERVAL 1 SECOND \(key)")
                note(row.table, row.key, .changed)
            } else if row.table != "questionnaire_responses" {
                try db.executeScript("UPDATE \(row.table) SET app_user_id = \(other) \(key)")
                note(row.table, row.key, .moved)
            }
        }
        return result
    }
}

extension RecordConflict {
    fileprivate var order: String { "\(table) \(key) \(reason)" }
}
