import AnalyticsJobs
import JSON
import MariaDB
import TestSupport
import Testing
import Time

/// Damage of each kind is found and named. Some of it can be done only by bypassing constraints.
@Suite struct VerifyTests {
    let app: TestApp
    let scene: AnalyticsScene

    /// A tombstone and its owner with rows of most kinds, and a user of another project.
    init() throws {
        app = try TestApp()
        scene = try AnalyticsScene(app)
        let client = app.client()
        try scene.makeQuestionnaire()
        for user in ["owl_anon_a", "u"] {
            let event = scene.event("metric:m:record", of: user, id: user.utf8.count, at: "2026-05-11")
            #expect(client.send(scene.ingest([event])).status == 200)
        }
        #expect(client.send(scene.feedback(["user_id": "u"])).status == 201)
        #expect(client.send(scene.respond(["words": "w"], ["user_id": "u"])).status == 201)
        #expect(client.send(scene.reservation(of: [1])).status == 201)
        #expect(client.send(scene.claim("owl_anon_a", "u")).status == 200)
        let other = try AnalyticsScene(app, team: scene.team)
        #expect(client.send(other.properties("u", ["a": "b"])).status == 200)
    }

    private static let setUp = """
        SET foreign_key_checks = 0, check_constraint_checks = 0;
        SET @project = (SELECT project_id FROM app_users WHERE merged_into IS NOT NULL);
        SET @tombstone = (SELECT id FROM app_users WHERE merged_into IS NOT NULL);
        SET @owner = (SELECT merged_into FROM app_users WHERE merged_into IS NOT NULL);
        SET @stranger = (SELECT id FROM app_users WHERE project_id <> @project);
        """

    @Test func nothingIsWrongBefore() throws { try scene.expectClean() }

    @Test(
        arguments: [
            (
                """
                ALTER TABLE app_users DROP KEY app_users_project_user, ADD KEY (project_id);
                UPDATE app_users SET user_id = 'u', is_anonymous = FALSE, merged_into = NULL WHERE id = @tombstone;
                """, .oneRecordPerName
            ),
            ("UPDATE app_users SET is_anonymous = TRUE WHERE id = @stranger", .kindFollowsName),
            ("UPDATE app_users SET merged_into = 77 WHERE id = @tombstone", .tombstonesPointAtRealRecords),
            ("UPDATE app_users SET merged_into = @stranger WHERE id = @tombstone", .tombstonesPointAtRealRecords),
            ("UPDATE app_users SET merged_into = @tombstone WHERE id = @tombstone", .tombstonesPointAtRealRecords),
            ("UPDATE identity_claims SET app_user_id = 77", .claimsNameRealRecords),
            ("UPDATE identity_claims SET app_user_id = @tombstone", .claimsNameRealRecords),
            ("UPDATE identity_claims SET app_user_id = @stranger", .claimsNameRealRecords),
            ("UPDATE identity_claims SET anonymous_id = 'u'", .claimsNameRealRecords),
            (
                """
                INSERT INTO identity_claims (project_id, anonymous_id, app_user_id, claimed_at)
                SELECT project_id, 'owl_anon_b', app_user_id, claimed_at FROM identity_claims
                """, .claimTimesIncrease
            ),
            ("UPDATE app_users SET merged_into = NULL WHERE id = @tombstone", .claimedIDsHaveNoLiveRecord),
            ("UPDATE events SET app_user_id = 77 WHERE app_user_id = @tombstone", .rowsNameRecords),
            ("UPDATE metric_events SET app_user_id = 77", .rowsNameRecords),
            ("UPDATE feedback SET app_user_id = 77", .rowsNameRecords),
            ("UPDATE questionnaire_responses SET app_user_id = 77", .rowsNameRecords),
            ("UPDATE app_user_apps SET app_user_id = 77", .rowsNameRecords),
            ("DELETE FROM app_users WHERE id = @tombstone", .rowsNameRecords),
            ("UPDATE feedback SET app_user_id = @stranger", .rowsNameRecordsOfTheirProject),
            ("UPDATE metric_events SET app_user_id = @stranger", .rowsNameRecordsOfTheirProject),
            ("UPDATE feedback SET app_user_id = @tombstone", .onlyEventsNameTombstones),
            ("UPDATE questionnaire_responses SET app_user_id = @tombstone", .onlyEventsNameTombstones),
            ("UPDATE app_user_apps SET app_user_id = @tombstone", .onlyEventsNameTombstones),
            ("INSERT INTO app_user_event_counts VALUES (@tombstone, '2026-04-01', 0)", .onlyEventsNameTombstones),
            ("UPDATE feedback SET frozen_user_id = 'owl_anon_a'", .frozenRowsNameNobody),
            ("UPDATE feedback SET frozen_user_id = 'owl_anon_a', app_user_id = NULL", .frozenRowsNameNobody),
            (
                """
                INSERT INTO questionnaire_responses (id, questionnaire_id, slug, app_id, project_id, app_user_id, answers,
                    status, is_dev, created_at, updated_at)
                SELECT RANDOM_BYTES(16), questionnaire_id, slug, app_id, project_id, @tombstone, answers, status, is_dev,
                       created_at, updated_at
                FROM questionnaire_responses
                """, .oneLiveResponse
            ),
            (
                """
                ALTER TABLE events DROP KEY events_client_event;
                UPDATE events SET client_event_id = RANDOM_BYTES(16);
                UPDATE events SET client_event_id = (SELECT MIN(client_event_id) FROM events);
                """, .eventsAreStoredOnce
            ),
            ("UPDATE app_user_event_counts SET n = n + 1", .countersEqualRows),
            ("DELETE FROM app_user_event_counts", .countersEqualRows),
            ("DELETE FROM events LIMIT 1", .countersEqualRows),
            ("UPDATE events SET timestamp = '2026-04-30 23:59:59.999' LIMIT 1", .countersEqualRows),
            ("UPDATE projects SET attachment_bytes = attachment_bytes + 1", .attachmentCountsEqualRows),
            ("UPDATE app_users SET attachment_files = 7 WHERE id = @owner", .attachmentCountsEqualRows),
            ("UPDATE event_attachments SET size_bytes = size_bytes + 1", .attachmentCountsEqualRows),
            ("UPDATE event_attachments SET project_id = RANDOM_BYTES(16)", .attachmentCountsEqualRows),
            ("UPDATE retention_horizons SET horizon = '2026-01-02'", .horizonsAreMonths),
            ("DELETE FROM retention_horizons WHERE table_name = 'metric_events'", .horizonsAreMonths),
            ("UPDATE retention_horizons SET horizon = '2026-06-01'", .deadEventsAwaitTheirDrop),
        ] as [(String, Invariant)])
    func damageIsFound(_ damage: String, _ invariant: Invariant) throws {
        try app.sql { try $0.executeScript(Self.setUp + damage) }
        let violations = try Verification.run(scene.database())
        let found = try #require(violations.first { $0.invariant == invariant }, "\(violations)")
        #expect(!found.rows.isEmpty)
        #expect(found.rows.allSatisfy { $0.contains(" ") && !$0.contains("owl_") }, "\(found.rows)")
    }

    @Test func atMostAHundredRowsAreNamed() throws {
        try scene.store(150, of: "u", from: app.time.now - .seconds(200), copies: false)
        try app.change("UPDATE events SET app_user_id = 77")
        let violations = try Verification.run(scene.database())
        #expect(violations.first { $0.invariant == .rowsNameRecords }?.rows.count == Violation.limit)
    }
}
