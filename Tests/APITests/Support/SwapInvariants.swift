import MariaDB
import Testing

/// A swap that was answered with 200.
struct DoneSwap {
    let from: Int
    let into: Int
    /// The grants that were selected; nil: all.
    var selectedGrants: Set<Int>?
    var agentApprovals = true
    var notifications = true
}

/// Rules that the tables keep after any number of swaps, in any order: nothing is lost or duplicated, and nothing
/// belongs to a stranger. Create it before the swaps, and call `check` afterwards.
///
/// Before the swaps, no account may have two grants at one application, or two pending approvals with one payload.
struct SwapInvariants {
    private let scene: SwapScene
    private let before: Assets

    init(_ scene: SwapScene) throws {
        self.scene = scene
        try scene.db.keepLivePAKs()
        before = try Assets(scene.db)
    }

    /// - Parameter swaps: all swaps that succeeded. Other accounts must be unchanged.
    func check(_ swaps: [DoneSwap], _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation) throws
    {
        let after = try Assets(scene.db)
        var problems = Problems()
        let done = Dictionary(swaps.map { ($0.from, $0) }) { first, _ in
            problems.add("\(first.from) was swapped twice")
            return first
        }
        checkGrants(after, done, &problems)
        checkApprovals(after, done, &problems)
        checkNotifications(after, done, &problems)
        try checkUsers(after, done, &problems)
        try (scene.db.subjectProblems() + scene.db.livePAKProblems()).forEach { problems.add($0) }
        #expect(problems.found.isEmpty, comment, sourceLocation: sourceLocation)
    }

    private func checkGrants(_ after: Assets, _ done: [Int: DoneSwap], _ problems: inout Problems) {
        problems.expectNoNew("grants", after.grants.keys, before.grants.keys)
        var absorbed = before.absorbedSubs
        for (id, old) in before.grants {
            let new = after.grants[id]
            guard let swap = done[old.user] else {
                if new != old { problems.add("grant \(id) changed, its user was not swapped") }
                continue
            }
            let isSelected = swap.selectedGrants?.contains(id) ?? true
            guard old.isLive, isSelected else {
                if new != nil { problems.add("grant \(id) outlived its user") }
                continue
            }
            absorbed[old.name] = swap.into
            if let new {
                if new != old.of(swap.into) { problems.add("grant \(id) is \(new)") }
            } else if !after.grants.values.contains(where: {
                $0.user == swap.into && $0.application == old.application && $0.isLive
            }) {
                problems.add("grant \(id) is lost")
            }
        }
        if after.absorbedSubs != absorbed { problems.add("absorbed: \(after.absorbedSubs), not \(absorbed)") }
        let live = after.grants.values.filter(\.isLive).map { "\($0.user) at \($0.application)" }
        problems.expectNoTwo("live grants", live)
        problems.expectSame(
            "codes and families", after.ofGrants, before.ofGrants.filter { after.grants[$0.value] != nil })
    }

    private func checkApprovals(_ after: Assets, _ done: [Int: DoneSwap], _ problems: inout Problems) {
        problems.expectSame(
            "agents", after.agents,
            before.agents.compactMapValues { user in
                guard let swap = done[user] else { return user }
                return swap.agentApprovals ? swap.into : nil
            })
        problems.expectNoNew("approvals", after.approvals.keys, before.approvals.keys)
        for (id, old) in before.approvals {
            let new = after.approvals[id]
            guard let swap = done[old.user] else {
                if new != old { problems.add("approval \(id) changed, its user was not swapped") }
                continue
            }
            if !swap.agentApprovals {
                if new != nil { problems.add("approval \(id) was not selected") }
            } else if let new {
                if new != old.of(swap.into) { problems.add("approval \(id) is \(new)") }
            } else if !old.isPending
                || !after.approvals.values.contains(where: {
                    $0.user == swap.into && $0.payload == old.payload && $0.isPending
                })
            {
                problems.add("approval \(id) is lost")
            }
        }
        problems.expectNoTwo(
            "pending approvals", after.approvals.values.filter(\.isPending).map { "\($0.user): \($0.payload)" })
    }

    private func checkNotifications(_ after: Assets, _ done: [Int: DoneSwap], _ problems: inout Problems) {
        func successor(_ user: Int?) -> Int? {
            guard let user, let swap = done[user] else { return user }
            return swap.notifications ? swap.into : nil
        }
        problems.expectSame(
            "notifications", after.notifications,
            before.notifications.compactMapValues { old in
                if let user = old.requested, let swap = done[user], !swap.notifications { return nil }
                return Assets.Notification(requested: successor(old.requested), approved: successor(old.approved))
            })
    }

    private func checkUsers(_ after: Assets, _ done: [Int: DoneSwap], _ problems: inout Problems) throws {
        for user in before.users.subtracting(after.users) where done[user] == nil {
            problems.add("user \(user) is gone, but not swapped")
        }
        if done.isEmpty { return }
        // The journal names whom an undo would bring back.
        for (column, count) in try scene.mentions(of: Array(done.keys))
        where count > 0 && column != "merge_journals.absorbed_user_id" {
            problems.add("\(column) names an account that is gone")
        }
        let audited = try scene.db.all(
            """
            SELECT CAST(JSON_VALUE(details, '$.from_user_id') AS UNSIGNED), user_id
            FROM audit_log WHERE action = 'user.swapped'
            """
        ) { row in (from: try row.read(Int.self), into: try row.read(Int?.self)) }
        for swap in done.values where audited.filter({ $0.from == swap.from }).map(\.into) != [swap.into] {
            problems.add("the audit log does not say once that \(swap.from) was swapped into \(swap.into)")
        }
    }
}

/// All rows that a swap can move, as the tables have them.
private struct Assets {
    struct Grant: Equatable {
        var user: Int
        let application: Int
        let sub: String
        let isLive: Bool

        var name: String { "\(sub) at \(application)" }

        func of(_ user: Int) -> Grant {
            var grant = self
            grant.user = user
            return grant
        }
    }

    struct Approval: Equatable {
        var user: Int
        let agent: Int
        let isPending: Bool
        let payload: String

        func of(_ user: Int) -> Approval {
            var approval = self
            approval.user = user
            return approval
        }
    }

    struct Notification: Equatable {
        let requested: Int?
        let approved: Int?
    }

    let users: Set<Int>
    let grants: [Int: Grant]
    /// The grant of each authorization code and each refresh family.
    let ofGrants: [String: Int]
    /// The canonical user of each.
    let absorbedSubs: [String: Int]
    let agents: [Int: Int]
    let approvals: [Int: Approval]
    let notifications: [Int: Notification]

    init(_ db: Connection) throws {
        users = Set(try db.all("SELECT id FROM users") { row in try row.read(Int.self) })
        grants = try Self.table(db, "SELECT id, user_id, application_id, sub, revoked_at IS NULL FROM grants") { row in
            Grant(user: try row.read(), application: try row.read(), sub: try row.read(), isLive: try row.read())
        }
        ofGrants = try Dictionary(
            uniqueKeysWithValues: db.all(
                """
                SELECT CONCAT('code ', id), grant_id FROM authorization_codes
                UNION ALL SELECT CONCAT('family ', id), grant_id FROM refresh_families
                """
            ) { row in (try row.read(), try row.read()) })
        absorbedSubs = try Dictionary(
            uniqueKeysWithValues: db.all(
                "SELECT CONCAT(sub, ' at ', application_id), canonical_user_id FROM absorbed_subs"
            ) { row in (try row.read(), try row.read()) })
        agents = try Self.table(db, "SELECT id, user_id FROM agents") { row in try row.read() }
        approvals = try Self.table(
            db, "SELECT id, user_id, agent_id, status = 'pending', display_payload_hash FROM agent_approvals"
        ) { row in
            Approval(user: try row.read(), agent: try row.read(), isPending: try row.read(), payload: try row.read())
        }
        notifications = try Self.table(
            db, "SELECT id, requested_user_id, approved_user_id FROM push_approval_requests"
        ) { row in Notification(requested: try row.read(), approved: try row.read()) }
    }

    private static func table<T>(
        _ db: Connection, _ sql: StaticString, _ read: (inout Row) throws -> T
    ) throws -> [Int: T] {
        try Dictionary(uniqueKeysWithValues: db.all(sql) { row in (try row.read(), try read(&row)) })
    }
}

private struct Problems {
    private(set) var found: [String] = []

    mutating func add(_ problem: String) { found.append(problem) }

    mutating func expectNoNew(_ what: String, _ after: some Sequence<Int>, _ before: some Sequence<Int>) {
        let new = Set(after).subtracting(before)
        if !new.isEmpty { add("new \(what): \(new.sorted())") }
    }

    mutating func expectNoTwo(_ what: String, _ names: [String]) {
        let twice = Dictionary(grouping: names) { $0 }.filter { $0.value.count > 1 }.keys
        if !twice.isEmpty { add("two \(what) of \(twice.sorted())") }
    }

    mutating func expectSame<Key: Hashable & Comparable, Value: Equatable>(
        _ what: String, _ after: [Key: Value], _ expected: [Key: Value]
    ) {
        for key in Set(after.keys).union(expected.keys).sorted() where after[key] != expected[key] {
            add(
                "\(what) \(key): \(after[key].map { "\($0)" } ?? "gone"), not "
                    + (expected[key].map { "\($0)" } ?? "gone"))
        }
    }
}
