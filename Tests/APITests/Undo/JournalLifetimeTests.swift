import HTTP
import JSON
import MariaDB
import TestSupport
import Testing
import Time

@testable import Accounts

/// How long a journal is kept (accounts Stage 6): until its window ends or one of the two accounts is erased.
@Suite struct JournalLifetimeTests {
    private static let window = Duration.seconds(14 * 86_400)

    let scene: OAuthScene
    let app: TestApp

    init() throws {
        scene = try OAuthScene()
        app = scene.app
    }

    /// A journal of now with two parts.
    private func addJournal(of absorbed: Int, into survivor: Int, isUndone: Bool = false) throws {
        let db = try app.database.connect()
        let now = app.time.now
        let journal = try db.execute(
            """
            INSERT INTO merge_journals (survivor_user_id, absorbed_user_id, merged_via, created_at, expires_at, undone_at)
            VALUES (?, ?, 'anonymous_swap', ?, ?, ?)
            """, survivor, absorbed, now, now + Self.window, isUndone ? now : nil
        ).lastInsertID
        for kind in ["accounts", "records"] {
            try db.execute(
                "INSERT INTO merge_journal_parts (journal_id, kind, number, sealed) VALUES (?, ?, 1, 'sealed')",
                journal, kind)
        }
    }

    /// The absorbed of the journals that are left, each with the number of its parts.
    private func journals() throws -> [String] {
        try app.column(
            """
            SELECT CONCAT_WS(' ', j.absorbed_user_id, COUNT(p.id)) FROM merge_journals j
            LEFT JOIN merge_journal_parts p ON p.journal_id = j.id GROUP BY j.id, j.absorbed_user_id ORDER BY j.id
            """)
    }

    private func parts() throws -> Int { try app.count("SELECT COUNT(*) FROM merge_journal_parts") }

    private func collect(undoWindow: Duration? = Self.window) throws -> Int {
        try app.operate { try $0.collect(.mergeJournals, loginHistory: .zero, undoWindow: undoWindow) }
    }

    // MARK: The window

    @Test func untilTheWindowEnds() throws {
        let person = try scene.person()
        try addJournal(of: 41, into: person.userID)
        app.time.advance(by: .seconds(1))
        try addJournal(of: 42, into: person.userID, isUndone: true)
        app.time.advance(by: Self.window - .seconds(1) - .milliseconds(1))
        #expect(try collect() == 0)
        app.time.advance(by: .milliseconds(1))
        #expect(try collect() == 1)
        // Lists have the other one with the time when it was undone.
        #expect(try journals() == ["42 2"])
        app.time.advance(by: .seconds(1))
        #expect(try collect() == 1)
        #expect(try journals() == [] && parts() == 0)
    }

    @Test func aShorterWindowCountsForOldJournals() throws {
        let person = try scene.person()
        try addJournal(of: 41, into: person.userID)
        app.time.advance(by: .seconds(86_400) - .milliseconds(1))
        #expect(try collect(undoWindow: .seconds(86_400)) == 0)
        app.time.advance(by: .milliseconds(1))
        try addJournal(of: 42, into: person.userID)
        #expect(try collect(undoWindow: .seconds(86_400)) == 1)
        #expect(try journals() == ["42 2"])
        #expect(try collect(undoWindow: nil) == 1)
        #expect(try journals() == [] && parts() == 0)
    }

    @Test func aLongerWindowDoesNot() throws {
        try addJournal(of: 41, into: scene.person().userID)
        app.time.advance(by: Self.window)
        #expect(try collect(undoWindow: Self.window * 2) == 1)
    }

    @Test func aTransactionErasesFew() throws {
        let person = try scene.person()
        for absorbed in 101...145 { try addJournal(of: absorbed, into: person.userID) }
        app.time.advance(by: Self.window)
        var counts: [Int] = []
        repeat { counts.append(try collect()) } while counts.last == Garbage.mergeJournals.batch
        #expect(counts == [20, 20, 5])
        #expect(try journals() == [] && parts() == 0)
    }

    @Test func theDelayOfCleanUpShowsThem() throws {
        try addJournal(of: 41, into: scene.person().userID)
        app.time.advance(by: Self.window + .seconds(3600))
        _ = try Garbage.allCases.filter { $0 != .mergeJournals }.map { kind in
            try app.operate { try $0.collect(kind, loginHistory: .zero, undoWindow: Self.window) }
        }
        func delay() throws -> Duration? { try app.sql { try $0.accountsUpkeep(at: app.time.now)?.garbageDelay } }
        #expect(try delay() == .seconds(3600))
        #expect(try collect() == 1)
        #expect(try delay() == .zero)
    }

    // MARK: The accounts

    private func delete(_ phone: Phone) throws {
        #expect(scene.client.send(.deletion(by: phone.token)).status == 202)
        app.time.advance(by: .seconds(30 * 86_400))
    }

    /// Whoever is there again after an undo may be erased alone.
    @Test(arguments: [true, false]) func untilAnAccountIsPurged(isSurvivor: Bool) throws {
        let (person, other) = (try scene.person(), try scene.person("other", email: nil))
        let third = try scene.person("third", email: nil)
        let (survivor, absorbed) = isSurvivor ? (person, other) : (other, person)
        try addJournal(of: absorbed.userID, into: survivor.userID)
        try addJournal(of: third.userID, into: other.userID)
        try delete(person)
        #expect(try app.purge() == [person.userID])
        #expect(try journals() == ["\(third.userID) 2"])
        #expect(try parts() == 2)
    }

    @Test(arguments: [true, false]) func untilAnAnonymousAccountIsPruned(isSurvivor: Bool) throws {
        let (anonymous, other) = (try scene.anonymous(), try scene.person())
        let (survivor, absorbed) = isSurvivor ? (anonymous, other) : (other, anonymous)
        try addJournal(of: absorbed.userID, into: survivor.userID)
        app.time.advance(by: .seconds(30 * 86_400) + .milliseconds(1))
        #expect(try app.prune(inactiveDays: 30) == [anonymous.userID])
        #expect(try journals() == [] && parts() == 0)
    }

    /// It deletes the account, but not what brings it back.
    @Test func aSwapLeavesItsOwn() throws {
        let anonymous = try scene.anonymous()
        _ = try scene.person()
        let swap = scene.client.send(
            .post, "/api/v1/me/anonymous_swap",
            app.proof("subject").adding(["provider": "apple", "device_uuid": .string(anonymous.uuid)]),
            token: anonymous.token)
        #expect(swap.status == 200, "\(swap)")
        #expect(try app.count("SELECT COUNT(*) FROM users WHERE id = ?", anonymous.userID) == 0)
        #expect(try journals() == ["\(anonymous.userID) 1"])
    }

    /// Journals come before the audit log (accounts §0.4), whichever of the two accounts is erased.
    @Test(arguments: [true, false]) func journalsAreDeletedBeforeTheAuditLogIsLocked(isSurvivor: Bool) throws {
        let (person, other) = (try scene.person(), try scene.person("other", email: nil))
        let (survivor, absorbed) = isSurvivor ? (person, other) : (other, person)
        try addJournal(of: absorbed.userID, into: survivor.userID)
        try delete(person)
        let holder = try app.database.connect()
        try holder.executeScript("START TRANSACTION; SELECT id FROM merge_journals FOR UPDATE")
        let purge = JobThread { [app] in _ = try app.purge() }
        try app.waitForALockWait()
        let db = try app.database.connect()
        #expect(throws: Never.self) {
            try db.executeScript("SELECT id FROM audit_log WHERE user_id = \(person.userID) FOR UPDATE NOWAIT")
        }
        try holder.executeScript("COMMIT")
        #expect(purge.failure == nil)
    }
}
