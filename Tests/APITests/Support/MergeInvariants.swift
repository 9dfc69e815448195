import MariaDB
import Testing

/// What must be true of the tables after any number of merges, whoever won: nobody and nothing is lost, the forest is flat,
/// a credential makes one link. It is made before the merges and checked after them.
struct MergeInvariants {
    private let scene: SwapScene
    private let before: [String: Int]
    private let users: Int

    init(_ scene: SwapScene) throws {
        self.scene = scene
        try scene.db.keepLivePAKs()
        before = try Self.owners(scene.db)
        users = try scene.ids("SELECT id FROM users").count
    }

    /// - Parameters:
    ///   - links: how many merges were answered with 200.
    ///   - undone: how many of those were undone. Their tokens stay used.
    ///   - swapped: accounts that a swap took meanwhile, with what they had.
    func check(
        links: Int, undone: Int = 0, swapped: Set<Int> = [], _ comment: Comment? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        var problems: [String] = []
        let survivors = try Dictionary(
            uniqueKeysWithValues: scene.db.all("SELECT linked_user_id, primary_user_id FROM identity_links") { row in
                (try row.read(Int.self), try row.read(Int.self))
            })
        for (linked, primary) in survivors where survivors[primary] != nil {
            problems.append("\(linked) leads to \(primary), who is absorbed")
        }
        let made = try scene.db.all(
            "SELECT CAST(SUBSTR(idempotency_key, 4) AS UNSIGNED) FROM identity_links WHERE idempotency_key LIKE 'st:%'"
        ) { row in try row.read(Int.self) }
        if made.count != links - undone { problems.append("there are \(made.count) links, not \(links - undone)") }
        let used = try scene.ids("SELECT id FROM merge_tokens WHERE used_at IS NOT NULL")
        if !Set(made).isSubset(of: used) || made.count + undone != used.count {
            problems.append("the tokens \(used) are used, for the links \(made)")
        }
        let left = try scene.ids("SELECT id FROM users").count
        if left != users - swapped.count { problems.append("\(users) users became \(left)") }

        let after = try Self.owners(scene.db)
        for (row, owner) in before {
            let expected = survivors[owner] ?? owner
            if let now = after[row] {
                if now != expected, !swapped.contains(owner) {
                    problems.append("\(row) is \(now)'s, not \(expected)'s")
                }
            } else if !swapped.contains(owner) {
                problems.append("\(row) is lost")
            }
        }
        for (row, owner) in after where survivors[owner] != nil {
            problems.append("\(row) is \(owner)'s, who is absorbed")
        }
        let open = try scene.ids(
            """
            SELECT user_id FROM paks WHERE revoked_at IS NULL AND user_id IN (SELECT linked_user_id FROM identity_links)
            UNION ALL SELECT user_id FROM web_sessions WHERE user_id IN (SELECT linked_user_id FROM identity_links)
            """)
        if !open.isEmpty { problems.append("credentials of \(open), who are absorbed, are good") }
        let strange = try scene.ids(
            """
            SELECT p.id FROM paks p JOIN devices d ON d.id = p.device_id
            WHERE p.revoked_at IS NULL AND p.user_id <> d.user_id
            """)
        if !strange.isEmpty { problems.append("the keys \(strange) on others' devices are good") }
        problems += try scene.db.subjectProblems() + scene.db.livePAKProblems()
        #expect(problems.isEmpty, comment, sourceLocation: sourceLocation)
    }

    /// Whose each row is.
    private static func owners(_ db: Connection) throws -> [String: Int] {
        try Dictionary(
            uniqueKeysWithValues: db.all(
                """
                SELECT CONCAT('identity ', id), user_id FROM identities
                UNION ALL SELECT CONCAT('device ', id), user_id FROM devices
                UNION ALL SELECT CONCAT('grant ', id), user_id FROM grants
                UNION ALL SELECT CONCAT('agent ', id), user_id FROM agents
                UNION ALL SELECT CONCAT('approval ', id), user_id FROM agent_approvals
                UNION ALL SELECT CONCAT('requested ', id), requested_user_id FROM push_approval_requests
                    WHERE requested_user_id IS NOT NULL
                UNION ALL SELECT CONCAT('approved ', id), approved_user_id FROM push_approval_requests
                    WHERE approved_user_id IS NOT NULL
                UNION ALL SELECT CONCAT('login ', id), user_id FROM login_events
                UNION ALL SELECT CONCAT('application ', id), owner_user_id FROM applications
                    WHERE owner_user_id IS NOT NULL
                UNION ALL SELECT CONCAT('sub ', application_id, ' ', sub), canonical_user_id FROM absorbed_subs
                """
            ) { row in (try row.read(), try row.read()) })
    }
}
