import HTTP
import JSON
import MariaDB
import TestSupport
import Testing
import Time

@testable import Accounts

/// Undos of merges and swaps that followed one another, and of rows that moved twice (accounts Stage 6).
@Suite struct UndoChainTests {
    /// Of generated accounts the first goes into the second and that into the third; undone, every table is as it was, at each step.
    @Test(arguments: UndoWorld.Way.allCases, 300..<304 as Range<UInt64>)
    func twoAreUndoneInReverse(way: UndoWorld.Way, seed: UInt64) throws {
        let world = try UndoWorld(seed: seed)
        for round in 0..<4 {
            try world.renew(way, hasRecords: round == 0)
            try world.db.execute(
                "UPDATE identities SET email = 'shared@example.com', email_verified = TRUE WHERE user_id IN (?, ?)",
                UndoWorld.survivor, UndoWorld.other)
            let horizon = try world.horizon()
            var snapshots = [try world.snapshot(horizon)]
            var merges = [try world.merge()]
            snapshots.append(try world.snapshot(horizon))
            merges.append(try world.mergeAsOperator(UndoWorld.survivor, into: UndoWorld.other))
            #expect(throws: Failure.undoNotPossible(.laterMerge)) { try world.app.undo(merges[0]) }
            while let merge = merges.popLast(), let before = snapshots.popLast() {
                #expect(try world.app.undo(merge).kept == [])
                let after = try world.snapshot(horizon)
                try #require(after == before, "\(seed), \(round), \(merge): \(before.difference(after))")
            }
        }
    }

    /// It stays with whoever has it.
    @Test func aRowThatMovedTwiceAndStayed() throws {
        let scene = try OAuthScene()
        let app = scene.app
        let people = try ["ada", "bea", "cleo"].map { try scene.person($0, email: "\($0)@example.com") }
        let agent = try scene.client.agent(of: people[0], in: app)
        let merges = try zip(people, people.dropFirst()).map { absorbed, survivor in
            let token = scene.client.send(.post, "/api/v1/me/merge/session-token", token: absorbed.token)[
                "session_token"]
            return try scene.client.send(
                .post, "/api/v1/me/merge", ["target_session_token": token ?? .null], token: survivor.token
            ).merge()
        }
        try app.change("UPDATE agents SET name = 'Renamed' WHERE public_id = ?", agent.id)
        for (merge, reason) in [(merges[1], UndoConflict.Reason.changed), (merges[0], .moved)] {
            #expect(throws: Failure.self) { try app.undo(merge) }
            let kept = try app.undo(merge, keepingChanged: true).kept
            #expect(kept.map(\.table) == ["agents"] && kept.map(\.reason) == [reason])
            #expect(try app.column("SELECT CONCAT(user_id) FROM agents") == ["\(people[2].userID)"])
        }
        for phone in people {
            let owner = try app.column("SELECT CONCAT(user_id) FROM devices WHERE id = ?", phone.deviceID)
            #expect(owner == ["\(phone.userID)"])
        }
    }

    /// The survivor has removed the phone, which began anew.
    @Test func aPhoneThatBeganAnew() throws {
        let scene = try OAuthScene()
        let app = scene.app
        _ = try scene.person("bea", email: "bea@example.com")
        let anonymous = try scene.anonymous()
        let swapped = scene.client.send(scene.swapRequest(anonymous, into: "bea"))
        let phone = try Phone(swapped)
        let swap = try app.newestSwap()
        // As on the page of the account.
        try app.change("DELETE FROM devices WHERE id = ?", phone.deviceID)
        let anew = try Phone(
            scene.client.send(.post, "/api/v1/devices", ["device_uuid": .string(anonymous.uuid), "platform": "ios"]))
        #expect(anew.userID != anonymous.userID)
        let failure = #expect(throws: Failure.self) { try app.undo(swap) }
        guard case .undoConflict(let conflicts) = failure else {
            Issue.record("\(failure.map { "\($0)" } ?? "undone")")
            return
        }
        #expect(conflicts == [UndoConflict(table: "devices", key: "\(anonymous.deviceID)", reason: .missing)])
        #expect(try app.undo(swap, keepingChanged: true).kept == conflicts)
        #expect(try app.count("SELECT COUNT(*) FROM users WHERE id = ?", anonymous.userID) == 1)
        #expect(try app.count("SELECT COUNT(*) FROM devices WHERE user_id = ?", anonymous.userID) == 0)
        let started = scene.client.send(.get, "/api/v1/me", token: anew.token)
        #expect(started["user"]?["id"]?.integer == anew.userID)
    }
}
