import Accounts
import HTTP
import MariaDB
import SignInClaims
import TestSupport
import Testing
import Time

extension RepeatableRequest {
    /// `DELETE /api/v1/me`.
    static func deletion(by token: String) -> RepeatableRequest {
        RepeatableRequest(method: .delete, path: "/api/v1/me", token: token)
    }
}

extension AccountsTransaction {
    /// Of kinds that do not depend on the window of undos.
    func collect(_ kind: Garbage, loginHistory: Duration) throws -> Int {
        try collect(kind, loginHistory: loginHistory, undoWindow: nil)
    }
}

extension TestApp {
    func restore(_ user: Int) throws { try operate { try $0.restoreUser(User.ID(rawValue: Int64(user)), by: .tool) } }

    /// What `merganserctl purge` does.
    ///
    /// - Returns: who was erased, in this order.
    @discardableResult
    func purge() throws -> [Int] {
        var erased: [User.ID] = []
        for user in try sql({ try $0.usersDueForPurge(at: time.now) }) {
            while let next = try operate({ try $0.purgeNextWithRecords(of: user) }) {
                erased.append(next)
                if next == user { break }
            }
        }
        return erased.map { Int($0.rawValue) }
    }

    /// What `merganserctl anonymous prune` does.
    ///
    /// - Returns: who was erased, in this order.
    @discardableResult
    func prune(inactiveDays days: Int, batch: Int = 2) throws -> [Int] {
        let limit = time.now - .seconds(days * 86_400)
        var erased: [User.ID] = []
        var last: InactiveUser?
        repeat {
            let users = try sql { try $0.inactiveAnonymousUsers(since: limit, after: last, atMost: batch) }
            for user in users where try operate({ try $0.pruneWithRecords(user.id, inactiveSince: limit) }) {
                erased.append(user.id)
            }
            last = users.last
        } while last != nil
        return erased.map { Int($0.rawValue) }
    }

    /// The events that a relying party was told, as they were written, without id and time.
    func events(at application: Int) throws -> [String] {
        try column(
            """
            SELECT CONCAT(event_type, ' ', SUBSTRING_INDEX(
                SUBSTRING(CONVERT(raw_payload USING utf8mb4), 1 + LENGTH('{"data":')), ',"event_id":', 1))
            FROM webhook_outbox WHERE application_id = ? ORDER BY seq
            """, application)
    }

    /// Nothing opens a deleted account any more, and nothing waits for it.
    func expectEnded(_ user: Int, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let left = try column(
            """
            SELECT 'a key' FROM paks WHERE user_id = ? AND revoked_at IS NULL
            UNION ALL SELECT 'a device' FROM devices WHERE user_id = ?
            UNION ALL SELECT 'a web session' FROM web_sessions WHERE user_id = ?
            UNION ALL SELECT 'a merge token' FROM merge_tokens WHERE user_id = ? AND used_at IS NULL
            UNION ALL SELECT 'a merge code' FROM merge_otps WHERE requester_id = ? AND used_at IS NULL
            UNION ALL SELECT 'a ticket' FROM swap_tickets WHERE user_id = ? AND used_at IS NULL
            UNION ALL SELECT 'a consent' FROM grants WHERE user_id = ? AND revoked_at IS NULL
            UNION ALL SELECT 'a code' FROM authorization_codes c JOIN grants g ON g.id = c.grant_id
                WHERE g.user_id = ? AND c.used_at IS NULL
            UNION ALL SELECT 'a family' FROM refresh_families f JOIN grants g ON g.id = f.grant_id
                WHERE g.user_id = ? AND f.revoked_at IS NULL
            UNION ALL SELECT 'an agent' FROM agents WHERE user_id = ? AND revoked_at IS NULL
            UNION ALL SELECT 'an approval' FROM agent_approvals WHERE user_id = ? AND status = 'pending'
            UNION ALL SELECT 'a push' FROM push_approval_requests WHERE requested_user_id = ?
                AND (status = 'pending' OR status = 'approved' AND completed_at IS NULL)
            UNION ALL SELECT 'a phone' FROM push_tokens t JOIN devices d ON d.id = t.device_id WHERE d.user_id = ?
            """, user, user, user, user, user, user, user, user, user, user, user, user, user)
        #expect(left == [], comment, sourceLocation: sourceLocation)
    }
}
