import MariaDB
import Time

extension Connection {
    /// The journal of a merge or swap; nil if there is none.
    func journal(of merge: MergeID) throws -> MergeJournal? {
        switch merge {
        case .merge(let link):
            try first(
                ComposedSQL(select: MergeJournal.columns, from: "merge_journals j WHERE j.identity_link_id = ?", link)
            ) { row in try MergeJournal(from: &row) }
        case .swap(let id):
            try first(
                ComposedSQL(
                    select: MergeJournal.columns,
                    from: "merge_journals j WHERE j.id = ? AND j.identity_link_id IS NULL", id)
            ) { row in try MergeJournal(from: &row) }
        }
    }

    /// Why a merge has no journal.
    func obstacle(to merge: MergeID) throws -> Failure {
        guard case .merge(let link) = merge,
            try first("SELECT 1 FROM identity_links WHERE id = ?", link, read: { row in try row.read(Bool.self) })
                ?? false
        else { return .notFound }
        return .undoNotPossible(.noJournal)
    }

    /// Whether one of the two accounts took part in a merge or swap since, which was not undone.
    ///
    /// Ids say what came later, since each merge takes its own under the locks of its users, whatever the clocks of the
    /// instances say. Only a swap has no id that compares with that of a merge without a journal.
    func hasLaterMerge(than journal: MergeJournal) throws -> Bool {
        let (a, b) = (journal.absorbed, journal.survivor)
        return try first(
            """
            SELECT EXISTS (SELECT 1 FROM merge_journals j
                           WHERE j.survivor_user_id IN (?, ?) AND j.undone_at IS NULL AND j.id > ?)
                OR EXISTS (SELECT 1 FROM merge_journals j
                           WHERE j.absorbed_user_id IN (?, ?) AND j.undone_at IS NULL AND j.id > ?)
                OR EXISTS (SELECT 1 FROM identity_links l WHERE l.linked_user_id = ?)
                OR EXISTS (SELECT 1 FROM identity_links l LEFT JOIN merge_journals j ON j.identity_link_id = l.id
                           WHERE l.primary_user_id = ? AND j.id IS NULL
                             AND COALESCE(l.id > ?, l.created_at > ?))
            """, a, b, journal.id, a, b, journal.id, b, b, journal.link, journal.createdAt - .clockSlack
        ) { row in try row.read(Bool.self) } ?? false
    }

    /// Whether an account that people sign in to has lost its last identity.
    func isIdentifiedWithoutIdentity(_ user: User.ID) throws -> Bool {
        try first(
            """
            SELECT 1 FROM users u
            WHERE u.id = ? AND NOT u.anonymous AND NOT EXISTS (SELECT 1 FROM identities i WHERE i.user_id = u.id)
            """, user
        ) { row in try row.read(Bool.self) } ?? false
    }
}

extension MergeJournal {
    fileprivate static let columns: StaticString = """
        j.id, j.survivor_user_id, j.absorbed_user_id, j.identity_link_id, j.merged_via, j.created_at, j.expires_at,
        j.undone_at
        """

    fileprivate init(from row: inout Row) throws(MariaDBError) {
        id = try row.read()
        survivor = try row.read()
        absorbed = try row.read()
        link = try row.read()
        mergedVia = try row.read()
        createdAt = try row.read()
        expiresAt = try row.read()
        undoneAt = try row.read()
    }
}

extension AccountsTransaction {
    /// Nil: clean-up has just erased it.
    func lockJournal(_ id: MergeJournal.ID) throws -> MergeJournal? {
        try connection.first(
            ComposedSQL(select: MergeJournal.columns, from: "merge_journals j WHERE j.id = ? FOR UPDATE", id)
        ) { row in try MergeJournal(from: &row) }
    }

    /// Nil if it has no part of this kind.
    func contents(
        of journal: MergeJournal, _ kind: MergeJournal.PartKind, _ serverKey: ServerKey
    ) throws -> [UInt8]? {
        let parts = try connection.all(
            "SELECT number, sealed FROM merge_journal_parts WHERE journal_id = ? AND kind = ? ORDER BY number",
            journal.id, kind.rawValue
        ) { row in (number: try row.read(Int.self), sealed: try row.read([UInt8].self)) }
        if parts.isEmpty { return nil }
        var contents: [UInt8] = []
        for part in parts {
            contents += try serverKey.open(
                part.sealed, for: MergeJournal.partRow(journal.id, kind: kind.rawValue, number: part.number))
        }
        return contents
    }

    /// What it kept is erased at once.
    func end(_ journal: MergeJournal) throws {
        try connection.execute("UPDATE merge_journals SET undone_at = ? WHERE id = ?", now, journal.id)
        try connection.execute("DELETE FROM merge_journal_parts WHERE journal_id = ?", journal.id)
    }

    /// The keys of deleted rows whose unique values something else has now.
    func takenKeys(of rows: [JournaledRow], in table: JournaledTable) throws -> Set<String> {
        guard let sql = table.takenKeys else { return [] }
        var taken: Set<String> = []
        for batch in rows.batches {
            taken.formUnion(try connection.all(sql, JournaledRow.array(batch)) { row in try row.read(String.self) })
        }
        return taken
    }

    /// The keys of deleted requests for approval in the app that name an approver who is not there.
    func absentApprovers(of rows: [JournaledRow]) throws -> Set<String> {
        Set(
            try rows.batches.flatMap { batch in
                try connection.all(
                    """
                    SELECT CONCAT(j.id)
                    FROM JSON_TABLE(?, '$[*]' COLUMNS (
                             id BIGINT PATH '$.id', approved_user_id BIGINT PATH '$.approved_user_id')) j
                    LEFT JOIN users u ON u.id = j.approved_user_id
                    WHERE j.approved_user_id IS NOT NULL AND u.id IS NULL
                    """, JournaledRow.array(batch)
                ) { row in try row.read(String.self) }
            })
    }

    /// Runs a statement, as often as there are batches of rows.
    ///
    /// - Parameters:
    ///   - sql: its first argument is a JSON array of rows.
    ///   - others: the other arguments.
    /// - Returns: how many rows it has changed.
    @discardableResult
    private func execute(
        _ sql: StaticString, for rows: [JournaledRow], _ others: any Bindable...
    ) throws -> Int {
        try rows.batches.reduce(0) { count, batch in
            count + (try connection.execute(sql, arguments: [JournaledRow.array(batch)] + others).affectedRows)
        }
    }

    func assign(_ rows: [JournaledRow], in table: JournaledTable, to user: User.ID, _ owner: StaticString) throws {
        for batch in rows.batches {
            var sql = ComposedSQL(joining: table.definition.assignment(to: owner))
            sql.append("", JournaledRow.array(batch), user)
            try connection.execute(sql)
        }
    }

    /// - Parameter rows: a batch.
    func insert(_ rows: some Sequence<JournaledRow>, into table: JournaledTable, of user: User.ID) throws {
        var sql = ComposedSQL(joining: table.definition.insertion)
        if table.definition.owner != nil { sql.append("", user) }
        sql.append("", JournaledRow.array(rows))
        try connection.execute(sql)
    }

    /// The history of a request is one: it goes where the request goes, with what was added to it since.
    ///
    /// - Returns: how many rows went.
    func giveBackHistories(of approvals: [JournaledRow], to user: User.ID) throws -> Int {
        try execute(
            """
            UPDATE JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$.id')) j STRAIGHT_JOIN agent_approvals p ON p.id = j.id
            STRAIGHT_JOIN agent_approval_history r FORCE INDEX (agent_approval_history_approval) ON r.approval = p.public_id
            SET r.user_id = ?
            """, for: approvals, user)
    }

    /// That of a request which clean-up has erased goes back, unless somebody ended the request since: then it would have
    /// stayed.
    ///
    /// - Parameter rows: all that there were of the user when the request moved.
    /// - Returns: how many rows went.
    func giveBackErasedHistories(_ rows: [JournaledRow], to user: User.ID) throws -> Int {
        let newest = rows.compactMap(\.id).max()
        return try execute(
            """
            UPDATE JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$.id')) j
            STRAIGHT_JOIN agent_approval_history known ON known.id = j.id
            STRAIGHT_JOIN agent_approval_history r FORCE INDEX (agent_approval_history_approval)
                ON r.approval = known.approval AND (r.id = known.id OR r.id > ?)
            LEFT JOIN agent_approvals p ON p.public_id = known.approval
            LEFT JOIN agent_approval_history since FORCE INDEX (agent_approval_history_approval)
                ON since.approval = known.approval AND since.id > ? AND since.event IN ('approved', 'rejected', 'cancelled')
            SET r.user_id = ? WHERE p.id IS NULL AND since.id IS NULL
            """, for: rows, newest, newest, user)
    }

    /// A swap took the calling device from its relying party's application.
    func bindAgain(_ devices: [JournaledRow]) throws {
        try execute(
            """
            UPDATE JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$.id', application_id BIGINT PATH '$.application_id')) j
            STRAIGHT_JOIN devices r ON r.id = j.id SET r.application_id = j.application_id
            """, for: devices)
    }

    /// What the survivor consented to is not what the grants' own user consented to; and whoever has ended one has ended it.
    func takeBackConsent(to grants: [JournaledRow]) throws {
        try execute(
            """
            UPDATE JSON_TABLE(?, '$[*]' COLUMNS (
                       id BIGINT PATH '$.id', scopes LONGTEXT CHARACTER SET utf8mb4 PATH '$.scopes',
                       revoked_at DATETIME(3) PATH '$.revoked_at')) j
            STRAIGHT_JOIN grants r ON r.id = j.id
            SET r.scopes = j.scopes, r.revoked_at = COALESCE(j.revoked_at, r.revoked_at)
            """, for: grants)
    }

    /// The devices drop which PAKs were live, too (`devices.live_paks`).
    ///
    /// - Returns: how many were live.
    func revokePAKs(of user: User.ID, on devices: [JournaledRow]) throws -> Int {
        try execute(
            """
            UPDATE JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$.id')) j STRAIGHT_JOIN devices r ON r.id = j.id
            SET r.live_paks = NULL
            """, for: devices)
        return try execute(
            """
            UPDATE JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$.id')) j STRAIGHT_JOIN paks p ON p.device_id = j.id
            SET p.revoked_at = ? WHERE p.user_id = ? AND p.revoked_at IS NULL
            """, for: devices, now, user)
    }

    /// `revokeCodes(of:)`, of many grants. They are written, and so locked.
    func revokeCodes(of grants: [JournaledRow]) throws {
        try execute(
            """
            UPDATE JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$.id')) j
            STRAIGHT_JOIN authorization_codes c ON c.grant_id = j.id SET c.used_at = ? WHERE c.used_at IS NULL
            """, for: grants, now)
        try execute(
            """
            UPDATE JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$.id')) j
            STRAIGHT_JOIN device_codes c ON c.grant_id = j.id SET c.status = 'denied' WHERE c.status = 'approved'
            """, for: grants)
    }

    /// Revokes the live families that are newer than one.
    func revokeFamilies(
        of grants: [JournaledRow], newerThan newest: TokenFamily.ID
    ) throws -> [(application: Application.ID, sub: String, sid: SessionID?)] {
        let families = try grants.batches.flatMap { batch in
            try connection.all(
                """
                SELECT f.id, g.application_id, g.sub, f.sid
                FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$.id')) j STRAIGHT_JOIN grants g ON g.id = j.id
                STRAIGHT_JOIN refresh_families f ON f.grant_id = g.id
                WHERE f.revoked_at IS NULL AND f.id > ?
                """, JournaledRow.array(batch), newest
            ) { row in
                (
                    id: try row.read(TokenFamily.ID.self), application: try row.read(Application.ID.self),
                    sub: try row.read(String.self), sid: try row.read([UInt8]?.self).map(SessionID.init(bytes:))
                )
            }
        }.sorted { $0.id < $1.id }
        return try families.filter { try revoke($0.id) }.map { ($0.application, $0.sub, $0.sid) }
    }

    /// Families return revoked: their tokens were refused meanwhile.
    func revokeReturned(_ families: [JournaledRow]) throws {
        try execute(
            """
            UPDATE JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$.id')) j STRAIGHT_JOIN refresh_families f ON f.id = j.id
            SET f.revoked_at = COALESCE(f.revoked_at, ?), f.current_expires_at = LEAST(f.current_expires_at, ?),
                f.sealed_answer = NULL, f.answer_expires_at = NULL, f.answer_key_digest = NULL,
                f.answer_key_expires_at = NULL
            """, for: families, now, now)
    }

    /// A swap has cancelled requests before it deleted them. Their history is kept, so it goes on from there.
    func continueHistories(of approvals: [JournaledRow]) throws {
        try execute(
            """
            UPDATE JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$.id')) j STRAIGHT_JOIN agent_approvals r ON r.id = j.id
            STRAIGHT_JOIN agent_approval_history h
                ON h.approval = r.public_id
                   AND h.sequence = (SELECT MAX(n.sequence) FROM agent_approval_history n WHERE n.approval = r.public_id)
            SET r.history_length = h.sequence, r.history_digest = h.digest
            """, for: approvals)
    }

    func giveBackPushApprovals(_ rows: [JournaledRow]) throws {
        try execute(
            """
            UPDATE JSON_TABLE(?, '$[*]' COLUMNS (
                       id BIGINT PATH '$.id', requested_user_id BIGINT PATH '$.requested_user_id',
                       approved_user_id BIGINT PATH '$.approved_user_id', status VARCHAR(16) PATH '$.status',
                       decided_at DATETIME(3) PATH '$.decided_at')) j
            STRAIGHT_JOIN push_approval_requests r ON r.id = j.id
            SET r.requested_user_id = j.requested_user_id, r.approved_user_id = j.approved_user_id, r.status = j.status,
                r.decided_at = j.decided_at
            """, for: rows)
    }

    /// What a swap wrote.
    func deleteAbsorbedSubs(of journal: MergeJournal, _ subs: Set<String>) throws {
        let subs = subs.sorted()
        for start in stride(from: 0, to: subs.count, by: JournaledRow.batch) {
            var sql = ComposedSQL(
                """
                DELETE FROM absorbed_subs
                WHERE canonical_user_id = ? AND via = 'anonymous_swap' AND occurred_at = ?
                """, journal.survivor, journal.createdAt)
            sql.append(" AND sub IN ", oneOf: Array(subs[start..<min(start + JournaledRow.batch, subs.count)]))
            try connection.execute(sql)
        }
    }

    func delete(_ link: IdentityLink.ID) throws {
        try connection.execute("DELETE FROM identity_links WHERE id = ?", link)
    }
}

extension JournaledTable {
    /// Reads the keys of rows whose unique values are taken. The argument is a JSON array of whole images.
    fileprivate var takenKeys: StaticString? {
        switch self {
        case .users:
            """
            SELECT CONCAT(j.id)
            FROM JSON_TABLE(?, '$[*]' COLUMNS (
                     id BIGINT PATH '$.id', deleted_at DATETIME(3) PATH '$.deleted_at',
                     login_email VARCHAR(320) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.login_email')) j
            STRAIGHT_JOIN users r ON r.live_login_email = j.login_email WHERE j.deleted_at IS NULL
            """
        case .identities:
            """
            SELECT CONCAT(j.id)
            FROM JSON_TABLE(?, '$[*]' COLUMNS (
                     id BIGINT PATH '$.id', provider VARCHAR(16) CHARACTER SET ascii COLLATE ascii_nopad_bin PATH '$.provider',
                     sub VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.sub')) j
            STRAIGHT_JOIN identities r ON r.provider = j.provider AND r.sub = j.sub
            """
        case .devices:
            """
            SELECT CONCAT(j.id)
            FROM JSON_TABLE(?, '$[*]' COLUMNS (
                     id BIGINT PATH '$.id', device_uuid VARCHAR(36) CHARACTER SET ascii COLLATE ascii_general_nopad_ci PATH '$.device_uuid')) j
            STRAIGHT_JOIN devices r ON r.device_uuid = j.device_uuid
            """
        case .pushTokens:
            """
            SELECT CONCAT(j.device_id)
            FROM JSON_TABLE(?, '$[*]' COLUMNS (
                     device_id BIGINT PATH '$.device_id', token VARCHAR(200) CHARACTER SET ascii COLLATE ascii_nopad_bin PATH '$.token')) j
            LEFT JOIN push_tokens own ON own.device_id = j.device_id
            LEFT JOIN push_tokens other ON other.token = j.token
            WHERE own.device_id IS NOT NULL OR other.device_id IS NOT NULL
            """
        case .grants:
            """
            SELECT CONCAT(j.id)
            FROM JSON_TABLE(?, '$[*]' COLUMNS (
                     id BIGINT PATH '$.id', application_id BIGINT PATH '$.application_id',
                     sub VARCHAR(64) CHARACTER SET ascii COLLATE ascii_nopad_bin PATH '$.sub')) j
            STRAIGHT_JOIN grants r ON r.application_id = j.application_id AND r.sub = j.sub
            """
        case .agentApprovalKeys:
            """
            SELECT CONCAT_WS(' ', j.agent_id, j.key_digest)
            FROM JSON_TABLE(?, '$[*]' COLUMNS (
                     agent_id BIGINT PATH '$.agent_id', key_digest VARCHAR(64) CHARACTER SET ascii PATH '$.key_digest')) j
            STRAIGHT_JOIN agent_approval_keys r ON r.agent_id = j.agent_id AND r.key_digest = UNHEX(j.key_digest)
            """
        default: nil
        }
    }
}

extension JournaledRow {
    /// How many rows a statement gets at most.
    static let batch = 1000
    /// How many bytes of rows a statement gets at most, but for the last row: it must fit into `max_allowed_packet`, which is
    /// 16 MiB unless it is set, and no row is longer than 1 MiB.
    static let batchBytes = 4 << 20
}

extension [JournaledRow] {
    /// As many rows at once as a statement gets.
    var batches: [ArraySlice<JournaledRow>] {
        var (batches, start, bytes) = ([ArraySlice<JournaledRow>](), 0, 0)
        for index in indices {
            if index - start == JournaledRow.batch || bytes > JournaledRow.batchBytes {
                batches.append(self[start..<index])
                (start, bytes) = (index, 0)
            }
            bytes += self[index].image.utf8.count
        }
        return isEmpty ? [] : batches + [self[start...]]
    }
}
