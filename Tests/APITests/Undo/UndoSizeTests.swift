import API
import MariaDB
import TestSupport
import Testing
import Time

@testable import Accounts

/// Accounts with more than 10 000 rows go back as small ones do.
@Suite struct UndoSizeTests {
    private func furnish(_ world: UndoWorld) throws {
        let user = UndoWorld.absorbed
        let first = world.shops[0].id
        try world.db.executeScript(
            """
            START TRANSACTION;
            INSERT INTO login_events (user_id, event, ip) SELECT \(user), 'session', '192.0.2.1' FROM seq_1_to_3000;
            INSERT INTO devices (user_id, device_uuid, platform, secret_digest)
                SELECT \(user), CONCAT('00000000-0000-4000-8000-', LPAD(seq, 12, '0')), 'ios', UNHEX(SHA2(CONCAT('many ', seq), 256))
                FROM seq_1_to_300;
            INSERT IGNORE INTO push_tokens (device_id, token, environment, updated_at)
                SELECT id, CONCAT('many-', id), 'production', first_seen_at FROM devices WHERE user_id = \(user);
            INSERT INTO device_anonymous_ids (device_id, anonymous_id)
                SELECT id, CONCAT('owl_anon_many', id) FROM devices WHERE user_id = \(user);
            INSERT INTO grants (user_id, application_id, sub, scopes, revoked_at)
                SELECT \(user), \(first) + seq % 5, CONCAT('many-', seq), 'openid', IF(seq % 3 = 0, '2026-05-01', NULL)
                FROM seq_1_to_600;
            INSERT INTO refresh_families (grant_id, handle, scopes, created_at, current_expires_at, revoked_at)
                SELECT id, UNHEX(MD5(CONCAT('many ', id))), 'openid', '2026-05-01', '2026-06-01', revoked_at
                FROM grants WHERE sub LIKE 'many-%';
            INSERT INTO refresh_tokens (digest, refresh_family_id, expires_at)
                SELECT UNHEX(SHA2(CONCAT(seq, ' many ', f.id), 256)), f.id, '2026-06-01'
                FROM refresh_families f JOIN grants g ON g.id = f.grant_id JOIN seq_1_to_2 WHERE g.sub LIKE 'many-%';
            INSERT INTO agents (user_id, public_id, token_digest)
                SELECT \(user), CONCAT('agt_many', LPAD(seq, 8, '0')), UNHEX(SHA2(CONCAT('many agents ', seq), 256)) FROM seq_1_to_100;
            INSERT INTO agent_approvals (user_id, agent_id, public_id, status, display_payload_hash, body, history_length,
                                         history_digest)
                SELECT \(user), a.id, CONCAT('aar_', LPAD(a.id, 8, '0'), LPAD(seq, 8, '0')),
                       ELT(1 + seq % 3, 'pending', 'approved', 'expired'), SHA2(CONCAT(a.id, ' ', seq), 256),
                       REPEAT('김', seq * 10), 1, UNHEX(SHA2(CONCAT('many ', a.id, ' ', seq), 256))
                FROM agents a JOIN seq_1_to_20 WHERE a.public_id LIKE 'agt_many%';
            INSERT INTO agent_approval_keys (agent_id, key_digest, body_digest, approval_id)
                SELECT agent_id, UNHEX(SHA2(public_id, 256)), UNHEX(SHA2(body, 256)), id FROM agent_approvals
                WHERE body LIKE '김%';
            INSERT INTO agent_approval_history (approval, sequence, user_id, event, at, display_payload_hash, previous_digest, digest)
                SELECT public_id, 1, user_id, 'requested', created_at, display_payload_hash, REPEAT('0', 32), history_digest
                FROM agent_approvals WHERE body LIKE '김%';
            INSERT INTO push_approval_requests (requested_user_id, approved_user_id, status, expires_at, public_id)
                SELECT \(user), IF(seq % 2 = 0, \(user), NULL), ELT(1 + seq % 3, 'pending', 'approved', 'denied'),
                       '2026-05-12 07:05:00', CONCAT('many', LPAD(seq, 18, '0')) FROM seq_1_to_500;
            COMMIT
            """)
    }

    /// As long as agents' requests can be, and as JSON text still longer: together longer than the longest statement.
    private func furnishWithLongRequests(_ world: UndoWorld) throws {
        let agent = try world.agent(of: UndoWorld.absorbed)
        for index in 0..<60 {
            let id = try world.approval(of: UndoWorld.absorbed, by: agent, payload: 1000 + index, status: "approved")
            let publicID = "aar_long" + padded(index, 12)
            let request = String(repeating: "x", count: 65_536)
            try world.db.execute(
                """
                UPDATE agent_approvals SET public_id = ?, title = REPEAT('🛑', 200), body = REPEAT(?, 65535),
                                           sealed_request = ?, history_length = 0, history_digest = NULL
                WHERE id = ?
                """, publicID, ["\u{1}", "\"", "x"][index % 3],
                world.app.service.accounts.serverKey.seal(Array(request.utf8), for: AgentApproval.row(publicID)), id)
        }
    }

    @Test(arguments: [true, false, nil]) func longRowsGoBack(areSelected: Bool?) throws {
        let world = try UndoWorld(seed: 9)
        try world.renew(areSelected == nil ? .sessionToken : .swap)
        if let areSelected { world.select(agents: areSelected) }
        try furnishWithLongRequests(world)
        let horizon = try world.horizon()
        let before = try world.snapshot(horizon)
        world.app.time.advance(by: .seconds(1))
        let merge = try world.merge()
        world.app.time.advance(by: .seconds(1))
        #expect(try world.app.undo(merge).kept == [])
        let after = try world.snapshot(horizon)
        #expect(after == before, "\(before.difference(after).prefix(2000))")
        try world.expectRevoked(horizon.families)
    }

    @Test(arguments: UndoWorld.Way.allCases, [7, 8] as [UInt64])
    func manyRowsGoBack(way: UndoWorld.Way, seed: UInt64) throws {
        let world = try UndoWorld(seed: seed)
        try world.renew(way)
        try furnish(world)
        let horizon = try world.horizon()
        let before = try world.snapshot(horizon)
        #expect(before.rows.count > 10_000)
        world.app.time.advance(by: .seconds(1))
        let merge = try world.merge()
        world.app.time.advance(by: .seconds(1))
        #expect(try world.app.undo(merge).kept == [])
        let after = try world.snapshot(horizon)
        #expect(after == before, "\(before.difference(after).prefix(2000))")
        try world.expectRevoked(horizon.families)
        try world.expectSealedValues()
    }
}
