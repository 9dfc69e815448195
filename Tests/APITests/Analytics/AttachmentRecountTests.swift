import Analytics
import AnalyticsJobs
import JSON
import MariaDB
import TestSupport
import Testing

/// `merganserctl attachments recount`: the repair of wrong attachment counts.
@Suite struct AttachmentRecountTests {
    let app: TestApp
    let scene: AnalyticsScene
    let client: Client

    /// Two end users with attachments, and one without.
    init() throws {
        app = try TestApp()
        scene = try AnalyticsScene(app)
        client = app.client()
        try scene.store.prepare()
        for user in ["u", "v"] { _ = try scene.reserve(client, [1, 2, 3], ["user_id": .string(user)]) }
        #expect(client.send(scene.properties("w", ["a": "b"])).status == 200)
    }

    private func recount(isDryRun: Bool = false) throws -> [AttachmentRecount.Correction] {
        try AttachmentRecount(isDryRun: isDryRun).run(scene.database())
    }

    private func counts() throws -> [String] {
        try app.column(
            """
            SELECT CONCAT(user_id, ' ', attachment_files, ' ', attachment_bytes) FROM app_users
            UNION ALL SELECT CONCAT('project ', attachment_files, ' ', attachment_bytes) FROM projects ORDER BY 1
            """)
    }

    @Test(
        arguments: [
            ("UPDATE projects SET attachment_bytes = 1", 1),
            ("UPDATE projects SET attachment_files = attachment_files + 1", 1),
            ("UPDATE app_users SET attachment_bytes = 0, attachment_files = 0 WHERE user_id = 'u'", 1),
            ("UPDATE app_users SET attachment_bytes = 77, attachment_files = 7", 3),
            ("UPDATE event_attachments SET size_bytes = size_bytes + 1", 3),
            ("UPDATE event_attachments SET project_id = RANDOM_BYTES(16)", 1),
        ] as [(StaticString, Int)])
    func wrongCountsAreCorrected(_ damage: StaticString, _ corrections: Int) throws {
        try app.change(damage)
        #expect(try Verification.run(scene.database()).map(\.invariant).contains(.attachmentCountsEqualRows))
        let before = try counts()
        let plan = try recount(isDryRun: true)
        #expect(plan.count == corrections)
        #expect(try counts() == before)
        let done = try recount()
        #expect(done == plan)
        #expect(done.allSatisfy { $0.counted != $0.actual })
        #expect(
            try !Verification.run(scene.database()).map(\.invariant).contains(.attachmentCountsEqualRows))
        #expect(try recount() == [])
    }

    @Test func correctCountsStay() throws {
        let before = try counts()
        #expect(before == ["project 2 6", "u 1 3", "v 1 3", "w 0 0"])
        #expect(try recount() == [])
        #expect(try counts() == before)
    }

    /// A transaction has added an attachment and has not committed: the recount waits for it, and counts it.
    @Test(arguments: ["app_users", "projects"]) func aReservationUnderWayIsCounted(wrong: String) throws {
        switch wrong {
        case "app_users": try app.change("UPDATE app_users SET attachment_bytes = 9 WHERE user_id = 'u'")
        default: try app.change("UPDATE projects SET attachment_bytes = 9")
        }
        let writer = try app.database.connect()
        try writer.begin()
        try writer.execute(
            """
            INSERT INTO event_attachments (id, project_id, app_id, event_client_id, app_user_id, original_filename,
                                           content_type, size_bytes, sha256, is_dev, created_at)
            VALUES (RANDOM_BYTES(16), ?, ?, RANDOM_BYTES(16), ?, 'f', 't', 5, SHA2('f', 256), FALSE, NOW(3))
            """, scene.project, scene.appID, try scene.recordID(of: "u"))
        let scene = scene
        let job = JobThread { _ = try AttachmentRecount().run(scene.database()) }
        try app.waitForALockWait()
        try writer.commit()
        #expect(job.failure == nil)
        #expect(try counts() == ["project 3 11", "u 2 8", "v 1 3", "w 0 0"])
    }

    @Test func reservationsAndRecountsRunAtOnce() throws {
        let scene = scene
        let statuses = app.atOnce(4) { client, thread in
            Result {
                try (0..<30).map { turn -> Int in
                    if thread > 0 {
                        return client.send(
                            scene.reservation(of: [1], ["user_id": .string(["u", "v"][turn % 2])])
                        ).status
                    }
                    try scene.app.change("UPDATE projects SET attachment_bytes = attachment_bytes + 7")
                    try scene.app.change("UPDATE app_users SET attachment_files = attachment_files + 1")
                    _ = try AttachmentRecount().run(scene.database())
                    return 201
                }
            }
        }
        for status in try statuses.flatMap({ try $0.get() }) { #expect(status == 201) }
        #expect(try counts() == ["project 92 96", "u 46 48", "v 46 48", "w 0 0"])
        try scene.expectClean()
    }

    /// The triggers write `app_users` and `projects`, so a statement on attachments must not read these (docs/operations.md).
    @Test func statementsOnAttachmentsReadNoTableThatCounts() throws {
        let db = try app.database.connect()
        func code(_ sql: StaticString) -> Int? {
            do { try db.execute(sql) } catch { return error.code }
            return nil
        }
        #expect(
            code(
                """
                INSERT INTO event_attachments (id, project_id, app_id, event_client_id, app_user_id, original_filename,
                                               content_type, size_bytes, sha256, is_dev, created_at)
                SELECT RANDOM_BYTES(16), u.project_id, t.app_id, RANDOM_BYTES(16), u.id, 'f', 't', 1, t.sha256, FALSE, NOW(3)
                FROM app_users u JOIN event_attachments t ON t.app_user_id = u.id
                """) == 1442)
        #expect(
            code("DELETE t FROM event_attachments t JOIN app_users u ON u.id = t.app_user_id WHERE u.user_id = 'u'")
                == 1442)
        #expect(
            code(
                """
                UPDATE event_attachments t JOIN app_users u ON u.id = t.app_user_id SET t.app_user_id = NULL
                WHERE u.user_id = 'u'
                """) == 1442)
        #expect(code("SET @user = (SELECT id FROM app_users WHERE user_id = 'u')") == nil)
        #expect(code("DELETE FROM event_attachments WHERE app_user_id = @user") == nil)
        #expect(try counts() == ["project 1 3", "u 0 0", "v 1 3", "w 0 0"])
        try scene.expectClean()
    }
}
