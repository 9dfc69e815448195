import HTTP
import JSON
import TestSupport
import Testing

/// What lists and searches for administrators cost: the same in a small and in a large installation, and on the first page
/// and deep down (accounts §4.7).
@Suite struct AdministrationCostTests {
    private static let limit = 20
    /// Index entries and rows for one row of a page, with what it is joined to and sorted by. A merge is read as a link and as a
    /// journal.
    private static let perRow = 10
    /// The caller, and the audit row.
    private static let overhead = 40

    let admin: AdministrationScene
    let meter: ReadMeter

    init() throws {
        admin = try AdministrationScene()
        meter = try ReadMeter(admin.app)
    }

    private var app: TestApp { admin.app }

    private func cost(_ path: String) throws -> (rows: Int, answer: Answer) {
        let measured = try meter.measure {
            $0.send(.get, "/api/v1/admin/\(path)", token: admin.administrator.token)
        }
        #expect(measured.answer.status == 200, "\(path): \(measured.answer)")
        return (measured.cost.rowsRead, measured.answer)
    }

    /// People with identities, devices, merges, audit rows and events.
    private func grow(from first: Int, to last: Int) throws {
        try app.change(
            """
            INSERT INTO users (id, contact_email, login_email, created_at)
            SELECT seq, CONCAT('c', seq, '@example.com'), CONCAT('l', seq, '@example.com'), '2026-05-01'
            FROM seq_1_to_40000 WHERE seq BETWEEN ? AND ?
            """, first, last)
        try app.change(
            """
            INSERT INTO identities (user_id, provider, sub, email)
            SELECT seq, IF(seq % 2, 'apple', 'google'), CONCAT('sub', seq), CONCAT('i', seq, '@example.com')
            FROM seq_1_to_40000 WHERE seq BETWEEN ? AND ?
            """, first, last)
        try app.change(
            """
            INSERT INTO devices (user_id, device_uuid, platform)
            SELECT seq, CONCAT('00000000-0000-4000-8000-', LPAD(seq, 12, '0')), 'ios'
            FROM seq_1_to_40000 WHERE seq BETWEEN ? AND ?
            """, first, last)
        try app.change(
            """
            INSERT INTO identity_links (primary_user_id, linked_user_id, merged_via, idempotency_key)
            SELECT 1000, seq, 'session_token', CONCAT('st:', seq) FROM seq_1_to_40000 WHERE seq BETWEEN ? AND ? AND seq <> 1000
            """, first, last)
        try app.change(
            """
            INSERT INTO merge_journals (survivor_user_id, absorbed_user_id, identity_link_id, merged_via, created_at, expires_at,
                                        undone_at)
            SELECT 1000, linked_user_id, IF(linked_user_id % 3, id, NULL), merged_via, created_at, created_at,
                   IF(linked_user_id % 3 = 2, created_at, NULL)
            FROM identity_links WHERE linked_user_id BETWEEN ? AND ?
            """, first, last)
        // Those that were undone.
        try app.change(
            "DELETE FROM identity_links WHERE linked_user_id % 3 = 2 AND linked_user_id BETWEEN ? AND ?", first, last)
        try app.change(
            """
            INSERT INTO audit_log (at, user_id, actor, action)
            SELECT '2026-05-01', 1000, 'operator', IF(seq % 2, 'pak.issued', 'pak.revoked')
            FROM seq_1_to_40000 WHERE seq BETWEEN ? AND ?
            """, first, last)
        try app.change(
            """
            INSERT INTO webhook_outbox (application_id, event_id, event_type, raw_payload, seq, next_attempt_at, delivered_at,
                                        dlq_at)
            SELECT a.id, CONCAT('evt_01J000000000000000', LPAD(seq, 8, '0')), 'user.merged', '{}', seq,
                   IF(seq % 3 = 0, '2026-05-12' + INTERVAL seq SECOND, NULL),
                   IF(seq % 3 = 1, '2026-05-12' + INTERVAL seq SECOND, NULL),
                   IF(seq % 3 = 2, '2026-05-12' + INTERVAL seq SECOND, NULL)
            FROM seq_1_to_40000 JOIN applications a WHERE seq BETWEEN ? AND ?
            """, first, last)
        try app.change(
            "ANALYZE TABLE users, identities, devices, identity_links, merge_journals, audit_log, webhook_outbox")
    }

    private static let paths = [
        "users?query=1500", "users?query=c1500@example.com", "users?query=l1500@example.com",
        "users?query=i1500@example.com", "users?query=sub1500", "users?query=00000000-0000-4000-8000-000000001500",
        "users?x=y", "merges?x=y", "merges?user_id=1000", "merges?user_id=1500",
        "merges/1", "merges/s2", "audit_log?x=y", "audit_log?user_id=1000",
        "audit_log?action=pak.issued", "webhook_outbox?state=pending", "webhook_outbox?state=dead",
        "webhook_outbox?state=delivered",
    ]

    @Test func nothingCostsMoreInALargeInstallation() throws {
        _ = try admin.scene.register()
        try grow(from: 1000, to: 2000)
        func costs() throws -> [String: Int] {
            try Dictionary(
                uniqueKeysWithValues: Self.paths.map {
                    let path = "\($0)\($0.contains("?") ? "&" : "?")limit=\(Self.limit)"
                    // Whoever opens a table reads its statistics, too.
                    _ = try cost(path)
                    return ($0, try cost(path).rows)
                })
        }
        let small = try costs()
        try grow(from: 2001, to: 40_000)
        let large = try costs()
        for path in Self.paths {
            let (before, after) = (small[path] ?? 0, large[path] ?? 0)
            #expect(abs(after - before) <= 10, "\(path): \(before) and \(after) rows")
            #expect(after <= Self.limit * Self.perRow + Self.overhead, "\(path): \(after) rows")
        }
    }

    /// Somebody may have any number of devices, and merge any number of accounts.
    @Test func ofAPersonWithMuchOnlyTheNewestIsRead() throws {
        let (rp, person) = (try admin.scene.register(), try admin.scene.person("bea"))
        try app.change("INSERT INTO users (id) SELECT 1000 + seq FROM seq_1_to_10000")
        try app.change(
            """
            INSERT INTO identities (user_id, provider, sub) SELECT ?, 'apple', CONCAT('sub', seq) FROM seq_1_to_10000
            """, person.userID)
        try app.change(
            """
            INSERT INTO devices (user_id, device_uuid, platform)
            SELECT ?, CONCAT('00000000-0000-4000-8000-', LPAD(seq, 12, '0')), 'ios' FROM seq_1_to_10000
            """, person.userID)
        try app.change(
            "INSERT INTO grants (user_id, application_id, sub) SELECT ?, ?, CONCAT('g', seq) FROM seq_1_to_10000",
            person.userID, rp.id)
        try app.change(
            """
            INSERT INTO identity_links (primary_user_id, linked_user_id, merged_via, idempotency_key)
            SELECT ?, 1000 + seq, 'session_token', CONCAT('st:', seq) FROM seq_1_to_10000
            """, person.userID)
        try app.change(
            """
            INSERT INTO absorbed_subs (application_id, sub, canonical_user_id, via, was_anonymous, occurred_at)
            SELECT ?, CONCAT('s', seq), ?, 'session_token', FALSE, '2026-05-01' FROM seq_1_to_10000
            """, rp.id, person.userID)
        try app.change("ANALYZE TABLE users, identities, devices, grants, identity_links, absorbed_subs")
        let rows = try cost("users/\(person.userID)").rows
        #expect(rows <= 5 * 200 * Self.perRow + Self.overhead, "\(rows) rows, of five lists with 200 lines")
    }

    @Test func aDeepPageCostsNoMoreThanTheFirst() throws {
        _ = try admin.scene.register()
        try grow(from: 1000, to: 20_000)
        for (path, deep) in [
            ("users", "2000"), ("merges", "500"), ("merges?user_id=1000", "500"), ("merges", "s500"),
            ("audit_log", "1000"),
            ("audit_log?user_id=1000", "1000"), ("audit_log?action=pak.issued", "1000"),
            ("webhook_outbox?state=pending", "1778560000000-19000"), ("webhook_outbox?state=dead", "1778560000000-5"),
            ("webhook_outbox?state=delivered", "1778560000000-5"),
        ] {
            let path = "\(path)\(path.contains("?") ? "&" : "?")limit=\(Self.limit)"
            let (first, next) = (try cost(path), try cost("\(path)&before=\(deep)"))
            #expect(next.answer["next_cursor"]?.string != nil, "\(path)")
            #expect(next.rows <= first.rows + 10, "\(path): \(first.rows) and \(next.rows) rows")
        }
    }
}
