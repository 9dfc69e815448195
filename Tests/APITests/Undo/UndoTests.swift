import Database
import HTTP
import JSON
import MariaDB
import TestSupport
import Testing
import Time

@testable import Accounts

/// For any merge or swap with nothing after it, merge then undo leaves every table as it was, row for row (accounts Stage 6).
@Suite struct UndoTests {
    @Test(arguments: 0..<8 as Range<UInt64>) func mergeThenUndoChangesNothing(seed: UInt64) throws {
        let world = try UndoWorld(seed: seed)
        var rows = 0
        for round in 0..<130 {
            let way = UndoWorld.Way.allCases[round % UndoWorld.Way.allCases.count]
            try world.renew(way, hasRecords: round % 11 == 0)
            let horizon = try world.horizon()
            let before = try world.snapshot(horizon)
            world.app.time.advance(by: .seconds(1))
            try world.db.keepLivePAKs()
            let merge = try world.merge()
            #expect(try world.db.livePAKProblems() == [])
            try world.db.keepLivePAKs()
            // It takes a while to look at all tables.
            if round % 11 == 0 { #expect(try world.snapshot(horizon) != before) }
            world.app.time.advance(by: .seconds(1))
            let undone = try world.app.undo(merge)
            let after = try world.snapshot(horizon)
            try #require(after == before, "\(seed), \(round), \(way): \(before.difference(after))")
            #expect(undone.kept.isEmpty)
            try world.expectRevoked(horizon.families)
            try world.expectSealedValues()
            #expect(try world.db.subjectProblems() + world.db.livePAKProblems() == [])
            rows += before.rows.count
        }
        #expect(rows > 4_000)
    }
}
