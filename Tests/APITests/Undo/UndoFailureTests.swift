import Database
import MariaDB
import TestSupport
import Testing
import Time

@testable import Accounts

/// If the database fails at any point, an undo is complete or has not happened.
@Suite struct UndoFailureTests {
    /// A merge or a swap of an account that has something of everything.
    ///
    /// - Returns: also a check that it is as it was before.
    private func world(
        _ way: UndoWorld.Way
    ) throws -> (world: UndoWorld, merge: MergeID, expectUndone: () throws -> Void) {
        let world = try UndoWorld(seed: 500)
        repeat { try world.renew(way, hasRecords: true) } while try !isFurnished(world)
        let horizon = try world.horizon()
        let before = try world.snapshot(horizon)
        world.app.time.advance(by: .seconds(1))
        let merge = try world.merge()
        world.app.time.advance(by: .seconds(1))
        return (
            world, merge,
            {
                let after = try world.snapshot(horizon)
                #expect(after == before, "\(before.difference(after))")
            }
        )
    }

    private func isFurnished(_ world: UndoWorld) throws -> Bool {
        try world.app.count(
            """
            SELECT EXISTS (SELECT 1 FROM devices WHERE user_id = 101) AND EXISTS (SELECT 1 FROM grants WHERE user_id = 101)
               AND EXISTS (SELECT 1 FROM agents WHERE user_id = 101) AND EXISTS (SELECT 1 FROM app_users WHERE user_id = '101')
               AND EXISTS (SELECT 1 FROM push_approval_requests WHERE requested_user_id = 101)
            """) == 1
    }

    /// Each row that the undo writes fails once, with an error after which it is not repeated. Whatever a failure left
    /// would stay, so that it is looked for now and then.
    @Test(arguments: [UndoWorld.Way.sessionToken, .swap]) func whicheverRowCannotBeWritten(way: UndoWorld.Way) throws {
        let (world, merge, expectUndone) = try world(way)
        let app = world.app
        let failures = try TransientFailures(app)
        try failures.stop()
        let before = try app.database.dump()
        var row = 0
        while true {
            row += 1
            try failures.fail(row...row, with: 1031)
            do {
                try app.undo(merge)
                break
            } catch let error as MariaDBError {
                try #require(error.code == 1031, "row \(row)")
            }
            if row.isMultiple(of: 32) {
                try failures.stop()
                try #require(try app.database.dump() == before, "row \(row)")
            }
        }
        try failures.stop()
        #expect(row > 30)
        try expectUndone()
        #expect(throws: Failure.undoNotPossible(.alreadyUndone)) { try app.undo(merge) }
    }

    /// A deadlock at each row is not seen, nor is a connection that is killed.
    @Test(arguments: [UndoWorld.Way.sessionToken, .swap]) func aDeadlockAtAnyRowIsNotSeen(way: UndoWorld.Way) throws {
        let (world, merge, expectUndone) = try world(way)
        let app = world.app
        let failures = try TransientFailures(app)
        let expected = try app.undo(merge, isRehearsal: true)
        var row = 0
        while app.statistics.retries.value == row {
            row += 1
            try failures.fail(row...row, with: row.isMultiple(of: 3) ? 1927 : 1213)
            let undone = try app.undo(merge, isRehearsal: true)
            #expect(undone.restored == expected.restored && undone.kept == [], "row \(row)")
        }
        try failures.stop()
        #expect(row > 30)
        #expect(app.statistics.exhaustions.value == 0)
        #expect(try app.undo(merge).restored == expected.restored)
        try expectUndone()
    }

    @Test func exhaustedAttemptsChangeNothing() throws {
        let (world, merge, expectUndone) = try world(.swap)
        let failures = try TransientFailures(world.app)
        try failures.stop()
        let before = try world.app.database.dump()
        try failures.fail(8...100_000, with: 1213)
        #expect(throws: TransactionFailure.self) { try world.app.undo(merge) }
        try failures.stop()
        #expect(try world.app.database.dump() == before)
        try world.app.undo(merge)
        try expectUndone()
    }
}
