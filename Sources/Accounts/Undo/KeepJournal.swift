import JSON
import MariaDB
import Text
import Time

/// What a transaction needs to keep a journal of a merge or swap (accounts Stage 6).
struct Journaling: Sendable {
    /// For how long it is kept.
    let window: Duration
    let serverKey: ServerKey
}

extension Accounts {
    /// Nil: no journal is kept.
    var journaling: Journaling? { settings.undoWindow.map { Journaling(window: $0, serverKey: serverKey) } }
}

/// A journal that a transaction has begun, to which more can be added.
struct BegunJournal {
    let id: MergeJournal.ID
    let serverKey: ServerKey
}

/// Rows of a user before they are moved or deleted.
struct ScannedRows {
    fileprivate(set) var rows: [JournaledTable: [JournaledRow]] = [:]
    /// The newest of all token families.
    fileprivate(set) var newestFamily = TokenFamily.ID(rawValue: 0)
}

/// Reads rows of a user in several tables, in one statement. Made once, since the text is long.
private struct Scan: Sendable {
    let tables: [JournaledTable]
    let sql: ComposedSQL
    /// How many arguments it has, each the user.
    let count: Int

    init(_ images: KeyValuePairs<JournaledTable, JournaledTable.Image>) {
        tables = images.map(\.key)
        let scans = images.flatMap { table, image in table.definition.scans(image) }
        sql = ComposedSQL(joining: Array(([Self.newestFamily] + scans).joined(separator: [" UNION ALL "])))
        count = scans.count
    }

    private static let newestFamily: [StaticString] = [
        "SELECT 'newest_family', NULL, CONVERT(COALESCE(MAX(id), 0) USING utf8mb4) COLLATE utf8mb4_nopad_bin, ''",
        " FROM refresh_families",
    ]

    /// What a merge moves. Push tokens end when their device gets another owner.
    static let beforeMerge = Scan([
        .identities: .moved, .devices: .moved, .pushTokens: .whole, .loginEvents: .moved, .grants: .moved,
        .agents: .moved, .agentApprovals: .moved, .agentApprovalHistory: .moved, .pushApprovals: .moved,
        .absorbedSubs: .moved, .identityLinks: .moved, .applications: .moved,
    ])

    /// What a swap moves or deletes, by what it moves. An anonymous account has no identities, and nothing was merged into it.
    /// Grants and agents' requests that are deleted even so are read whole when that is known.
    static func beforeSwap(_ selection: SwapSelection) -> Scan {
        switch (selection.agentApprovals, selection.notifications) {
        case (true, true): movingAll
        case (true, false): movingAgents
        case (false, true): movingNotifications
        case (false, false): movingNeither
        }
    }

    private static let movingAll = beforeSwap(agents: .moved, notifications: .moved)
    private static let movingAgents = beforeSwap(agents: .moved, notifications: .whole)
    private static let movingNotifications = beforeSwap(agents: .whole, notifications: .moved)
    private static let movingNeither = beforeSwap(agents: .whole, notifications: .whole)

    private static func beforeSwap(agents: JournaledTable.Image, notifications: JournaledTable.Image) -> Scan {
        Scan([
            .users: .whole, .devices: .whole, .pushTokens: .whole, .loginEvents: .whole, .grants: .moved,
            .agents: agents, .agentApprovals: .moved, .agentApprovalHistory: .moved, .pushApprovals: notifications,
            .applications: .moved,
        ])
    }

    /// What goes with devices that a swap deletes.
    static let ofDevices = Scan([.deviceAnonymousIDs: .whole])
    /// Grants, some of which a swap deletes, with what goes with those.
    static let ofGrants = Scan([.grants: .whole, .refreshFamilies: .whole, .refreshTokens: .whole])
    /// Requests of agents, some of which a swap deletes, with what goes with those.
    static let ofApprovals = Scan([.agentApprovals: .whole, .agentApprovalKeys: .whole])
}

extension Connection {
    /// A journal's copies of agents' requests are in memory, and take some times as much as the rows.
    ///
    /// - Throws: `accountTooLarge` if a user's requests have more than 16 MiB.
    func checkApprovals(of user: User.ID) throws {
        // A row without long texts takes about 500 bytes there.
        let size = try first(
            """
            SELECT COALESCE(SUM(500 + OCTET_LENGTH(body) + OCTET_LENGTH(title) + OCTET_LENGTH(action_type)
                                + COALESCE(OCTET_LENGTH(sealed_request), 0)), 0)
            FROM agent_approvals WHERE user_id = ?
            """, user
        ) { row in try row.read(Int.self) }
        if let size, size > 16 << 20 { throw Failure.accountTooLarge }
    }

    /// How many grants a user has, revoked ones, too.
    func grantCount(of user: User.ID) throws -> Int {
        try first("SELECT COUNT(*) FROM grants WHERE user_id = ?", user) { row in try row.read() } ?? 0
    }

    /// A swap that deletes a grant copies all refresh tokens of the user into its journal: each refresh has left one.
    ///
    /// - Throws: `accountTooLarge` if these are more than 25 000.
    func checkTokens(of user: User.ID) throws {
        let limit = MergePlan.longestHistory
        let count = try first(
            """
            SELECT COUNT(*) FROM (
                SELECT 1 FROM grants g STRAIGHT_JOIN refresh_families f ON f.grant_id = g.id
                STRAIGHT_JOIN refresh_tokens r ON r.refresh_family_id = f.id WHERE g.user_id = ? LIMIT ?
            ) t
            """, user, limit + 1
        ) { row in try row.read(Int.self) }
        if let count, count > limit { throw Failure.accountTooLarge }
    }
}

extension AccountsTransaction {
    /// What a merge is about to move. Both users are locked.
    func rowsBeforeMerge(of user: User.ID) throws -> ScannedRows {
        // An exchange that has begun a family of theirs is over then: else an undo would take it for one that began since.
        _ = try lockLiveGrants(of: user)
        return try rows(of: user, .beforeMerge)
    }

    /// What a swap is about to move, or to delete with all columns. Both users are locked.
    ///
    /// - Parameters:
    ///   - device: that is moved.
    ///   - grants: that are moved.
    /// - Throws: `accountTooLarge`.
    func rowsBeforeSwap(
        of user: User.ID, moving device: Device.ID?, _ grants: Set<Grant.ID>, _ selection: SwapSelection
    ) throws -> ScannedRows {
        // As before a merge.
        _ = try lockLiveGrants(of: user)
        var found = try rows(of: user, .beforeSwap(selection))
        let deletesDevices = found.rows[.devices, default: []].contains { $0.id != device?.rawValue }
        if deletesDevices { try read(.ofDevices, of: user, into: &found) }
        if found.rows[.grants, default: []].count > grants.count {
            try connection.checkTokens(of: user)
            try read(.ofGrants, of: user, into: &found)
        }
        if !selection.agentApprovals { try readApprovals(of: user, into: &found) }
        return found
    }

    /// Reads agents' requests with all columns, because a swap is about to delete some of them.
    ///
    /// - Throws: `accountTooLarge`.
    func readApprovals(of user: User.ID, into found: inout ScannedRows) throws {
        guard found.rows[.agentApprovals] != nil else { return }
        try connection.checkApprovals(of: user)
        try read(.ofApprovals, of: user, into: &found)
    }

    private func read(_ scan: Scan, of user: User.ID, into found: inout ScannedRows) throws {
        let rows = try rows(of: user, scan).rows
        // Of some, nothing may be left: clean-up takes requests without their user's lock.
        for table in scan.tables { found.rows[table] = rows[table] }
    }

    /// The requests for approval in the app that name a user, in ascending order.
    ///
    /// - Parameter scanned: the user's rows, if they were read.
    func pushApprovals(naming user: User.ID, in scanned: ScannedRows?) throws -> [Int64] {
        try scanned.map { $0.rows[.pushApprovals, default: []].compactMap(\.id).sorted() }
            ?? connection.pushApprovals(naming: user)
    }

    private func rows(of user: User.ID, _ scan: Scan) throws -> ScannedRows {
        var found = ScannedRows()
        for (name, row) in try connection.all(
            scan.sql.with(arguments: Array(repeating: user, count: scan.count)),
            read: { row in
                let (name, parent) = (try row.read(String.self), try row.read(Int64?.self))
                return (name, JournaledRow(key: try row.read(), image: try row.read(), parent: parent))
            })
        {
            if let table = JournaledTable(rawValue: name) {
                found.rows[table, default: []].append(row)
            } else {
                found.newestFamily = TokenFamily.ID(rawValue: row.id ?? 0)
            }
        }
        return found
    }

    /// Keeps the journal of a merge that has moved these rows.
    func keepJournal(
        of link: IdentityLink, _ scanned: ScannedRows, _ filled: [JournalContents.FilledValue],
        _ denied: Set<PushApproval.ID>, _ journaling: Journaling
    ) throws {
        var contents = JournalContents(moved: scanned.rows, filled: filled, newestFamily: scanned.newestFamily)
        contents.deleted[.pushTokens] = contents.moved.removeValue(forKey: .pushTokens)
        contents.pushApprovals = JournalContents.MovedPushApprovals(to: link.primary, denied: denied)
        try keepJournal(
            contents, survivor: link.primary, absorbed: link.linked, link.id, link.method.rawValue, journaling)
    }

    /// Keeps the journal of a swap that has moved some of these rows and has deleted the others.
    ///
    /// - Parameter name: the survivor's, before and after.
    func keepJournal(
        ofSwapFrom a: User.ID, into b: User.ID, _ scanned: ScannedRows, _ moved: SwappedRows,
        name: (before: String?, after: String?), _ journaling: Journaling
    ) throws {
        var contents = JournalContents(newestFamily: scanned.newestFamily)
        contents.filled = [JournalContents.FilledValue.name(name.before, name.after)].compactMap(\.self)
        for (table, rows) in scanned.rows {
            for var row in rows {
                switch try moved.fate(of: row, in: table, a) {
                case .moved: contents.moved[table, default: []].append(row)
                case .deleted:
                    try open(&row, of: table, journaling.serverKey)
                    contents.deleted[table, default: []].append(row)
                case .unchanged: break
                }
            }
        }
        contents.pushApprovals = JournalContents.MovedPushApprovals(
            to: moved.hasPushApprovals ? b : nil, denied: moved.denied)
        try keepJournal(contents, survivor: b, absorbed: a, nil, "anonymous_swap", journaling)
    }

    /// Rows as they are now, by key.
    func present(
        _ rows: [JournaledRow], in table: JournaledTable
    ) throws -> [String: (owner: User.ID?, image: String)] {
        var found: [String: (owner: User.ID?, image: String)] = [:]
        for batch in rows.batches {
            var sql = ComposedSQL(joining: table.definition.present)
            sql.append("", JournaledRow.array(batch))
            for (key, owner, image) in try connection.all(
                sql,
                read: { row in
                    (try row.read(String.self), try row.read(User.ID?.self), try row.read(String.self))
                })
            {
                found[key] = (owner, image)
            }
        }
        return found
    }

    /// Opens what the server key seals in a row, since the journal outlives a rotation of the key. An answer that was kept in
    /// case that it got lost is not kept any longer.
    private func open(_ row: inout JournaledRow, of table: JournaledTable, _ serverKey: ServerKey) throws {
        // As MariaDB writes it; parsing says the same.
        guard let sealed = table.sealed, !row.image.contains("\"\(sealed.column)\": null") else { return }
        let identity = try sealed.identity(row)
        try row.replace { name, value in
            guard name == sealed.column else { return value }
            guard let identity, let bytes = value.bytes else { return .null }
            return .string(try serverKey.open(bytes, for: identity).hexadecimal)
        }
    }

    private func keepJournal(
        _ contents: JournalContents, survivor: User.ID, absorbed: User.ID, _ link: IdentityLink.ID?,
        _ mergedVia: String,
        _ journaling: Journaling
    ) throws {
        let outcome = try connection.execute(
            """
            INSERT INTO merge_journals (survivor_user_id, absorbed_user_id, identity_link_id, merged_via, created_at,
                                        expires_at)
            VALUES (?, ?, ?, ?, ?, ?)
            """, survivor, absorbed, link, mergedVia, now, now + journaling.window)
        let journal = BegunJournal(
            id: MergeJournal.ID(rawValue: Int64(outcome.lastInsertID)), serverKey: journaling.serverKey)
        self.journal = journal
        try append(contents.json(), as: .accounts, to: journal)
    }

    /// Adds what the merge or swap of this transaction did outside the accounts.
    ///
    /// - Precondition: `keepsJournal`.
    package func keepInJournal(records: [UInt8]) throws {
        guard let journal else { preconditionFailure("no journal is kept") }
        try append(records, as: .records, to: journal)
    }

    /// Whether a merge or swap of this transaction keeps a journal.
    package var keepsJournal: Bool { journal != nil }

    private func append(_ contents: [UInt8], as kind: MergeJournal.PartKind, to journal: BegunJournal) throws {
        let starts = stride(from: 0, to: contents.count, by: MergeJournal.longestPart)
        for (number, start) in starts.enumerated() {
            let piece = Array(contents[start..<min(start + MergeJournal.longestPart, contents.count)])
            let sealed = journal.serverKey.seal(
                piece, for: MergeJournal.partRow(journal.id, kind: kind.rawValue, number: number))
            let sql: StaticString =
                "INSERT INTO merge_journal_parts (journal_id, kind, number, sealed) VALUES (?, ?, ?, ?)"
            // With COMMIT, unless it is so long that what is sent together would not fit into a packet.
            if contents.count <= MergeJournal.shortPart {
                try connection.executeLater(sql, journal.id, kind.rawValue, number, sealed)
            } else {
                try connection.execute(sql, journal.id, kind.rawValue, number, sealed)
            }
        }
    }
}

/// What a swap has moved; it has deleted everything else.
struct SwappedRows {
    var device: Device.ID?
    var grants: Set<Grant.ID>
    var hasAgents: Bool
    /// Requests of agents that were deleted, because the survivor has the same.
    var duplicates: Set<AgentApproval.ID>
    var hasPushApprovals: Bool
    /// Sign-ins of browsers that waited.
    var denied: Set<PushApproval.ID>

    enum Fate { case moved, deleted, unchanged }

    /// - Parameter user: whose the rows were.
    func fate(of row: JournaledRow, in table: JournaledTable, _ user: User.ID) throws -> Fate {
        switch table {
        case .users, .identities, .pushTokens, .loginEvents, .absorbedSubs, .identityLinks: .deleted
        case .devices: row.id == device?.rawValue ? .moved : .deleted
        case .deviceAnonymousIDs: row.parent == device?.rawValue ? .unchanged : .deleted
        case .grants: row.id.map { hasMoved(grant: $0) } ?? false ? .moved : .deleted
        case .refreshFamilies, .refreshTokens: row.parent.map { hasMoved(grant: $0) } ?? false ? .unchanged : .deleted
        case .agents: hasAgents ? .moved : .deleted
        case .agentApprovals: row.id.map { hasMoved(approval: $0) } ?? false ? .moved : .deleted
        case .agentApprovalKeys: row.parent.map { hasMoved(approval: $0) } ?? false ? .unchanged : .deleted
        case .pushApprovals:
            // Those of others lose the user, and stay.
            try hasPushApprovals || row.value("requested_user_id") != .integer(user.rawValue) ? .moved : .deleted
        // They stay, with another user or without one.
        case .agentApprovalHistory, .applications: .moved
        }
    }

    private func hasMoved(grant id: Int64) -> Bool { grants.contains(Grant.ID(rawValue: id)) }
    private func hasMoved(approval id: Int64) -> Bool {
        hasAgents && !duplicates.contains(AgentApproval.ID(rawValue: id))
    }
}

extension MergeJournal {
    /// Of which rows a part says something.
    enum PartKind: String { case accounts, records }

    /// Bytes. A statement must fit into `max_allowed_packet`, which is 16 MiB unless it is set.
    static let longestPart = 4 << 20
    static let shortPart = 1 << 20
}

extension JournaledTable {
    /// A column that the server key seals, and what for; nil also as the identity of a value that is not kept.
    var sealed: (column: String, identity: (JournaledRow) throws -> [UInt8]?)? {
        switch self {
        case .identities:
            ("apple_token", { row in try row.value("apple_token_handle")?.bytes.map(SealedAppleGrant.row) })
        case .agentApprovals:
            ("sealed_request", { row in try row.value("public_id")?.string.map(AgentApproval.row) })
        case .pushApprovals: ("sealed_number", { row in try row.value("public_id")?.string.map(PushApproval.row) })
        case .refreshFamilies: ("sealed_answer", { _ in nil })
        default: nil
        }
    }
}

extension JSONValue {
    /// Those that hexadecimal digits stand for.
    var bytes: [UInt8]? { string.flatMap { [UInt8](hexadecimal: $0.utf8) } }
}
