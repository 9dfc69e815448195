import MariaDB

@testable import Accounts

extension Connection {
    /// What must be true of the marks of subjects at any time: whoever a link or an absorbed sub names has `users.has_merges`, and
    /// without it the usual statement says of every grant what the one for merged accounts says; `users.verified_addresses` are
    /// those of the user's identities; and each live family with a revoked token has
    /// `refresh_families.has_revoked_tokens`.
    func subjectProblems() throws -> [String] {
        var problems = try all(
            """
            SELECT u.id FROM users u WHERE NOT u.has_merges
            AND (EXISTS (SELECT 1 FROM identity_links l WHERE u.id IN (l.primary_user_id, l.linked_user_id))
                 OR EXISTS (SELECT 1 FROM absorbed_subs s WHERE s.canonical_user_id = u.id))
            """
        ) { row in "user \(try row.read(Int.self)) has merges, but no mark" }
        problems += try all(
            """
            SELECT u.id FROM users u WHERE NOT u.verified_addresses <=> (
                SELECT JSON_ARRAYAGG(i.email) FROM identities i
                WHERE i.user_id = u.id AND i.email_verified AND i.email IS NOT NULL)
            """
        ) { row in "user \(try row.read(Int.self)) has other verified addresses than its identities" }
        problems += try all(
            """
            SELECT f.id FROM refresh_families f JOIN revoked_access_tokens r ON f.handle = LEFT(r.jti, 16)
            WHERE NOT f.has_revoked_tokens AND f.revoked_at IS NULL
            """
        ) { row in "family \(try row.read(Int.self)) has revoked tokens, but no mark" }
        for grant in try all("SELECT id FROM grants", read: { row in try row.read(Grant.ID.self) }) {
            let (usual, merged) = (try subject(of: grant), try mergedSubject(of: grant))
            let texts = [usual, merged].map { $0.map { "\($0)" } ?? "nobody" }
            if texts[0] != texts[1] { problems.append("grant \(grant) is \(texts[0]), not \(texts[1])") }
        }
        return problems
    }
}
