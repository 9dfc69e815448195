import HTTP
import IdentityTokens
import JSON
import MariaDB
import TestSupport
import Testing
import Time

@testable import Accounts

/// What was changed after a merge or swap refuses its undo, or stays as it is (accounts Stage 6).
@Suite struct UndoConflictTests {
    @Test(arguments: 100..<104 as Range<UInt64>) func whatChangedMeanwhileStaysOrRefuses(seed: UInt64) throws {
        let world = try UndoWorld(seed: seed)
        var reasons: [UndoConflict.Reason: Int] = [:]
        for round in 0..<60 {
            // A swap changes most.
            let ways = UndoWorld.Way.allCases + [.swap, .swap]
            let way = ways[round % ways.count]
            try world.renew(way)
            let horizon = try world.horizon()
            let before = try world.snapshot(horizon)
            var meanwhile = try Meanwhile(world)
            world.app.time.advance(by: .seconds(1))
            try world.db.keepLivePAKs()
            let merge = try world.merge()
            let merged = try world.snapshot(horizon)
            world.app.time.advance(by: .seconds(1))
            try meanwhile.change()
            let comment: Comment = "\(seed), \(round), \(way): \(meanwhile.done)"
            let changed = try world.snapshot(horizon)
            let expected = meanwhile.conflicts.sorted { $0.order < $1.order }
            for conflict in expected { reasons[conflict.reason, default: 0] += 1 }
            if !expected.isEmpty {
                let failure = #expect(throws: Failure.self, comment) { try world.app.undo(merge) }
                guard case .undoConflict(let conflicts) = failure else {
                    Issue.record("\(comment): \(failure.map { "\($0)" } ?? "undone")")
                    continue
                }
                try #require(conflicts.sorted { $0.order < $1.order } == expected, comment)
                #expect(try world.snapshot(horizon) == changed, comment)
            }
            let undone = try world.app.undo(merge, keepingChanged: true)
            try #require(undone.kept.sorted { $0.order < $1.order } == expected, comment)
            let after = try world.snapshot(horizon)
            let left = meanwhile.expected(before: before, merged: merged, changed: changed)
            try #require(after == left, "\(comment): \(left.difference(after))")
            #expect(try world.db.subjectProblems() + world.db.livePAKProblems() == [], comment)
        }
        #expect(reasons.count == 4 && reasons.values.allSatisfy { $0 > 3 }, "\(reasons)")
    }
}

extension UndoConflict {
    fileprivate var order: String { "\(table) \(key) \(reason)" }
}

/// What happens after a merge to the rows that were the absorbed account's.
private struct Meanwhile {
    private typealias Step = (inout Meanwhile) throws -> Void

    private static let name = "Chosen since"

    private let world: UndoWorld
    /// The keys of its rows that nothing has happened to yet.
    private var former: [String: [String]] = [:]
    private let survivor: (name: String?, email: String?)
    /// The unique keys of rows that a swap may delete, and what goes with them.
    private var lost: [String: String] = [:]
    private var children: [String: Set<String>] = [:]
    private(set) var conflicts: [UndoConflict] = []
    /// What happened, for a failure's message.
    private(set) var done: [String] = []
    /// Rows that stay as they are now.
    private var staying: Set<String> = []
    /// Grants go back whatever has become of them; those that were ended stay so.
    private var ended: [String] = []
    private var isRenamed = false

    init(_ world: UndoWorld) throws {
        self.world = world
        let a = UndoWorld.absorbed
        func keys(_ table: String, _ sql: StaticString, _ arguments: any Bindable...) throws {
            former[table] = try world.db.all(sql, arguments: arguments) { row in try row.read(String.self) }
        }
        survivor =
            try world.db.first("SELECT name, contact_email FROM users WHERE id = ?", UndoWorld.survivor) { row in
                (name: try row.read(String?.self), email: try row.read(String?.self))
            } ?? (nil, nil)
        try keys("identities", "SELECT CONCAT(id) FROM identities WHERE user_id = ?", a)
        try keys("devices", "SELECT CONCAT(id) FROM devices WHERE user_id = ?", a)
        try keys("login_events", "SELECT CONCAT(id) FROM login_events WHERE user_id = ?", a)
        try keys("grants", "SELECT CONCAT(id) FROM grants WHERE user_id = ?", a)
        try keys("agents", "SELECT CONCAT(id) FROM agents WHERE user_id = ?", a)
        // Those of agents that nothing happens to.
        try keys("agent_approvals", "SELECT CONCAT(id) FROM agent_approvals WHERE user_id = ?", a)
        try keys(
            "push_approval_requests",
            "SELECT CONCAT(id) FROM push_approval_requests WHERE requested_user_id = ? OR approved_user_id = ?", a, a)
        try keys(
            "absorbed_subs", "SELECT CONCAT(application_id, ' ', sub) FROM absorbed_subs WHERE canonical_user_id = ?", a
        )
        try keys("identity_links", "SELECT CONCAT(id) FROM identity_links WHERE primary_user_id = ?", a)
        try keys("applications", "SELECT CONCAT(id) FROM applications WHERE owner_user_id = ?", a)
        let unique = try world.db.all(
            """
            SELECT CONCAT('devices ', id), device_uuid FROM devices WHERE user_id = ?
            UNION ALL SELECT CONCAT('grants ', id), CONCAT(application_id, ' ', sub) FROM grants WHERE user_id = ?
            """, a, a
        ) { row in (try row.read(String.self), try row.read(String.self)) }
        lost = Dictionary(uniqueKeysWithValues: unique)
        let parts = try world.db.all(
            """
            SELECT CONCAT('devices ', r.device_id), CONCAT('device_anonymous_ids ', r.id)
            FROM device_anonymous_ids r JOIN devices d ON d.id = r.device_id WHERE d.user_id = ?
            UNION ALL SELECT CONCAT('devices ', r.device_id), CONCAT('push_tokens ', r.device_id)
            FROM push_tokens r JOIN devices d ON d.id = r.device_id WHERE d.user_id = ?
            UNION ALL SELECT CONCAT('grants ', f.grant_id), CONCAT('refresh_families ', f.id)
            FROM refresh_families f JOIN grants g ON g.id = f.grant_id WHERE g.user_id = ?
            UNION ALL SELECT CONCAT('grants ', f.grant_id), CONCAT('refresh_tokens ', HEX(t.digest))
            FROM refresh_tokens t JOIN refresh_families f ON f.id = t.refresh_family_id
            JOIN grants g ON g.id = f.grant_id WHERE g.user_id = ?
            UNION ALL SELECT CONCAT('agents ', agent_id), CONCAT('agent_approvals ', id)
            FROM agent_approvals WHERE user_id = ?
            UNION ALL SELECT CONCAT('agents ', r.agent_id), CONCAT_WS(' ', 'agent_approval_keys', r.agent_id, HEX(r.key_digest))
            FROM agent_approval_keys r JOIN agent_approvals p ON p.id = r.approval_id WHERE p.user_id = ?
            UNION ALL SELECT CONCAT('agents ', p.agent_id), CONCAT('agent_approval_history ', h.id)
            FROM agent_approval_history h JOIN agent_approvals p ON p.public_id = h.approval WHERE p.user_id = ?
            """, a, a, a, a, a, a, a
        ) { row in (parent: try row.read(String.self), child: try row.read(String.self)) }
        children = Dictionary(grouping: parts, by: \.parent).mapValues { Set($0.map(\.child)) }
    }

    /// Does some of what may happen.
    mutating func change() throws {
        let steps: [(name: String, step: Step)] = [
            ("identity unlinked", { try $0.unlink() }),
            ("identity moved", { try $0.moveIdentity() }),
            ("device removed", { try $0.removeDevice() }),
            ("device moved", { try $0.moveDevice() }),
            ("device taken", { try $0.takeDevice() }),
            ("grant changed", { try $0.changeGrant() }),
            ("grant taken", { try $0.takeGrant() }),
            ("agent changed", { try $0.changeAgent() }),
            ("approval changed", { try $0.changeApproval() }),
            ("approval cleaned up", { try $0.forgetApproval() }),
            ("push approval changed", { try $0.changePushApproval() }),
            ("push approval cleaned up", { try $0.forgetPushApproval() }),
            ("login event cleaned up", { try $0.forgetLogin() }),
            ("sub moved", { try $0.moveSub() }),
            ("link gone", { try $0.removeLink() }),
            ("application moved", { try $0.moveApplication() }),
            ("name changed", { try $0.rename() }),
            ("more of everything", { try $0.add() }),
        ]
        for (name, step) in steps where world.chance(18) {
            let before = conflicts.count
            try step(&self)
            done.append("\(name) (\(conflicts.count - before))")
        }
    }

    /// - Parameters:
    ///   - before: before the merge.
    ///   - merged: after it.
    ///   - changed: after the changes.
    func expected(
        before: UndoWorld.Snapshot, merged: UndoWorld.Snapshot, changed: UndoWorld.Snapshot
    ) -> UndoWorld.Snapshot {
        var expected = before
        for row in staying { expected.rows[row] = changed.rows[row] }
        for (row, line) in changed.rows where before.rows[row] == nil && merged.rows[row] == nil {
            expected.rows[row] = line
        }
        if isRenamed {
            let row = "users \(UndoWorld.survivor)"
            expected.rows[row] = before.rows[row]?.replacing(
                " name=\(survivor.name ?? "NULL") nickname=", with: " name=\(Self.name) nickname=")
        }
        for row in ended {
            expected.rows[row] = changed.rows[row]?.replacing(
                " user_id=\(UndoWorld.survivor) ", with: " user_id=\(UndoWorld.absorbed) ")
        }
        return expected
    }

    // MARK: Steps

    private mutating func take(
        _ table: String, where condition: (UndoWorld, String) throws -> Bool = { _, _ in true }
    ) throws -> String? {
        let world = world
        guard let keys = try former[table]?.filter({ try condition(world, $0) }), let key = world.any(of: keys) else {
            return nil
        }
        former[table]?.removeAll { $0 == key }
        return key
    }

    private mutating func note(_ table: String, _ key: String, _ reason: UndoConflict.Reason) {
        conflicts.append(UndoConflict(table: table, key: key, reason: reason))
        staying.insert("\(table) \(key)")
    }

    private mutating func stay(_ table: String, _ sql: StaticString, _ key: String) throws {
        for row in try world.db.all(sql, key, read: { row in try row.read(String.self) }) {
            staying.insert("\(table) \(row)")
        }
    }

    private static func isThere(_ world: UndoWorld, _ sql: StaticString, _ key: String) throws -> Bool {
        try world.app.count(sql, key) > 0
    }

    /// Its last one stays: without it the undo is impossible.
    private mutating func unlink() throws {
        guard (former["identities"]?.count ?? 0) > 1, let id = try take("identities") else { return }
        try world.db.execute("DELETE FROM identities WHERE id = ?", id)
        note("identities", id, .missing)
    }

    private mutating func moveIdentity() throws {
        guard (former["identities"]?.count ?? 0) > 1, let id = try take("identities") else { return }
        try world.db.execute("UPDATE identities SET user_id = ? WHERE id = ?", UndoWorld.other, id)
        note("identities", id, .moved)
    }

    private static func isMovedDevice(_ world: UndoWorld, _ id: String) throws -> Bool {
        try isThere(world, "SELECT COUNT(*) FROM devices WHERE id = ?", id)
    }

    /// What is on a device goes with it.
    private mutating func stayOnDevice(_ id: String) throws {
        try stay("device_anonymous_ids", "SELECT CONCAT(id) FROM device_anonymous_ids WHERE device_id = ?", id)
        staying.insert("push_tokens \(id)")
    }

    private mutating func removeDevice() throws {
        guard let id = try take("devices", where: Self.isMovedDevice) else { return }
        try stayOnDevice(id)
        try world.db.execute("DELETE FROM devices WHERE id = ?", id)
        note("devices", id, .missing)
    }

    private mutating func moveDevice() throws {
        guard let id = try take("devices", where: Self.isMovedDevice) else { return }
        try stayOnDevice(id)
        try world.db.execute("UPDATE devices SET user_id = ? WHERE id = ?", UndoWorld.other, id)
        note("devices", id, .moved)
    }

    private mutating func takeDevice() throws {
        guard let id = try take("devices", where: { try !Self.isMovedDevice($0, $1) }),
            let device = lost["devices \(id)"]
        else { return }
        try world.db.execute(
            "INSERT INTO devices (user_id, device_uuid, platform) VALUES (?, ?, 'ios')", UndoWorld.other, device)
        note("devices", id, .taken)
        staying.formUnion(children["devices \(id)"] ?? [])
    }

    private static func isMovedGrant(_ world: UndoWorld, _ id: String) throws -> Bool {
        try isThere(world, "SELECT COUNT(*) FROM grants WHERE id = ?", id)
    }

    private mutating func changeGrant() throws {
        guard let id = try take("grants", where: Self.isMovedGrant) else { return }
        if world.chance(40) {
            try world.db.execute("UPDATE grants SET scopes = CONCAT(scopes, ' email') WHERE id = ?", id)
        } else if try Self.isThere(
            world, "SELECT COUNT(*) FROM grants WHERE id = ? AND revoked_at IS NOT NULL", id)
        {
            try world.db.execute("UPDATE grants SET revoked_at = NULL WHERE id = ?", id)
        } else {
            try world.db.execute("UPDATE grants SET revoked_at = ? WHERE id = ?", world.app.time.now, id)
            ended.append("grants \(id)")
        }
        conflicts.append(UndoConflict(table: "grants", key: id, reason: .changed))
    }

    private mutating func takeGrant() throws {
        guard let id = try take("grants", where: { try !Self.isMovedGrant($0, $1) }), let grant = lost["grants \(id)"]
        else { return }
        let parts = grant.split(separator: " ").map(String.init)
        try world.db.execute(
            "INSERT INTO grants (user_id, application_id, sub) VALUES (?, ?, ?)", UndoWorld.other, parts[0], parts[1])
        note("grants", id, .taken)
        staying.formUnion(children["grants \(id)"] ?? [])
    }

    private mutating func changeAgent() throws {
        guard
            let id = try take("agents", where: { try Self.isThere($0, "SELECT COUNT(*) FROM agents WHERE id = ?", $1) })
        else { return }
        switch world.number(0...2) {
        case 0: try world.db.execute("UPDATE agents SET name = 'Renamed' WHERE id = ?", id)
        case 1: try world.db.execute("UPDATE agents SET allowed_ips = '[\"198.51.100.1\"]' WHERE id = ?", id)
        default:
            try world.db.execute(
                "UPDATE agents SET token_digest = UNHEX(SHA2(?, 256)) WHERE id = ?", "new token of \(id)", id)
        }
        note("agents", id, .changed)
        // Its requests stay with it, or stay deleted.
        staying.formUnion(children["agents \(id)"] ?? [])
        for approval in try world.db.all(
            "SELECT CONCAT(id) FROM agent_approvals WHERE agent_id = ?", id, read: { row in try row.read(String.self) })
        {
            try stayWithApproval(approval)
            former["agent_approvals"]?.removeAll { $0 == approval }
        }
    }

    private mutating func stayWithApproval(_ id: String) throws {
        staying.insert("agent_approvals \(id)")
        try stay(
            "agent_approval_keys",
            "SELECT CONCAT_WS(' ', agent_id, HEX(key_digest)) FROM agent_approval_keys WHERE approval_id = ?", id)
        try stay(
            "agent_approval_history",
            """
            SELECT CONCAT(h.id) FROM agent_approval_history h JOIN agent_approvals r ON r.public_id = h.approval WHERE r.id = ?
            """, id)
    }

    private mutating func changeApproval() throws {
        guard
            let id = try take(
                "agent_approvals",
                where: {
                    try Self.isThere($0, "SELECT COUNT(*) FROM agent_approvals WHERE id = ? AND status = 'pending'", $1)
                })
        else { return }
        try world.db.execute(
            "UPDATE agent_approvals SET status = 'approved', decided_at = ? WHERE id = ?", world.app.time.now, id)
        try stayWithApproval(id)
        note("agent_approvals", id, .changed)
    }

    private mutating func forgetApproval() throws {
        guard
            let id = try take(
                "agent_approvals",
                where: { try Self.isThere($0, "SELECT COUNT(*) FROM agent_approvals WHERE id = ?", $1) })
        else { return }
        try stay(
            "agent_approval_keys",
            "SELECT CONCAT_WS(' ', agent_id, HEX(key_digest)) FROM agent_approval_keys WHERE approval_id = ?", id)
        staying.insert("agent_approvals \(id)")
        try world.db.execute("DELETE FROM agent_approvals WHERE id = ?", id)
    }

    private mutating func changePushApproval() throws {
        guard
            let id = try take(
                "push_approval_requests",
                where: { try Self.isThere($0, "SELECT COUNT(*) FROM push_approval_requests WHERE id = ?", $1) })
        else { return }
        try world.db.execute(
            "UPDATE push_approval_requests SET completed_at = ? WHERE id = ?", world.app.time.now, id)
        note("push_approval_requests", id, .changed)
    }

    private mutating func forgetPushApproval() throws {
        guard
            let id = try take(
                "push_approval_requests",
                where: { try Self.isThere($0, "SELECT COUNT(*) FROM push_approval_requests WHERE id = ?", $1) })
        else { return }
        try world.db.execute("DELETE FROM push_approval_requests WHERE id = ?", id)
        staying.insert("push_approval_requests \(id)")
    }

    private mutating func forgetLogin() throws {
        guard
            let id = try take(
                "login_events", where: { try Self.isThere($0, "SELECT COUNT(*) FROM login_events WHERE id = ?", $1) })
        else { return }
        try world.db.execute("DELETE FROM login_events WHERE id = ?", id)
        staying.insert("login_events \(id)")
    }

    private mutating func moveSub() throws {
        guard let key = try take("absorbed_subs") else { return }
        let reason: UndoConflict.Reason = world.chance(50) ? .moved : .missing
        if reason == .moved {
            try world.db.execute(
                "UPDATE absorbed_subs SET canonical_user_id = ? WHERE CONCAT(application_id, ' ', sub) = ?",
                UndoWorld.other, key)
        } else {
            try world.db.execute("DELETE FROM absorbed_subs WHERE CONCAT(application_id, ' ', sub) = ?", key)
        }
        note("absorbed_subs", key, reason)
    }

    /// As a purge of the one who was absorbed before does it.
    private mutating func removeLink() throws {
        guard let id = try take("identity_links") else { return }
        let applications = try world.db.all(
            "SELECT CONCAT(application_id) FROM identity_link_events WHERE identity_link_id = ?", id
        ) { row in try row.read(String.self) }
        for application in applications { staying.insert("identity_link_events \(id) \(application)") }
        try world.db.execute("DELETE FROM identity_links WHERE id = ?", id)
        note("identity_links", id, .missing)
    }

    private mutating func moveApplication() throws {
        guard let id = try take("applications") else { return }
        try world.db.execute("UPDATE applications SET owner_user_id = ? WHERE id = ?", UndoWorld.other, id)
        note("applications", id, .moved)
    }

    /// By its owner. What the merge did not fill in was the survivor's own.
    private mutating func rename() throws {
        let name = try world.db.first("SELECT name FROM users WHERE id = ?", UndoWorld.survivor) { row in
            try row.read(String?.self)
        }
        guard let name, name != survivor.name else { return }
        try world.db.execute("UPDATE users SET name = ? WHERE id = ?", Self.name, UndoWorld.survivor)
        isRenamed = true
        conflicts.append(UndoConflict(table: "users", key: "\(UndoWorld.survivor) name", reason: .changed))
    }

    private mutating func add() throws {
        let b = UndoWorld.survivor
        try world.identity(of: b, .google)
        try world.device(of: b)
        try world.grant(of: b)
        try world.approval(of: b, by: try world.agent(of: b))
        try world.pushApproval(requested: b, approved: b)
    }
}
