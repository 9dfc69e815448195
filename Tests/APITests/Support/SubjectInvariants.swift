import MariaDB

@testable import Accounts

extension Connection {
    /// What must be true of `users.has_merges` at any time: whoever a link or an absorbed sub names has it, and without it the
    /// usual statement says of every grant what the one for merged accounts says.
    func subjectProblems() throws -> [String] {
        var problems = try all(
            """
            SELECT u.id FROM users u WHERE NOT u.has_merges
            AND (EXISTS (SELECT 1 FROM identity_links l WHERE u.id IN (l.primary_user_id, l.linked_user_id))
                 OR EXISTS (SELECT 1 FROM absorbed_subs s WHERE s.canonical_user_id = u.id))
            """
        ) { row in "user \(try row.read(Int.self)) has merges, but no mark" }
        for grant in try all("SELECT id FROM grants", read: { row in try row.read(Grant.ID.self) }) {
            let (usual, merged) = (try subject(of: grant, withAddresses: true), try mergedSubject(of: grant))
            let texts = [usual, merged].map { $0.map { "\($0)" } ?? "nobody" }
            if texts[0] != texts[1] { problems.append("grant \(grant) is \(texts[0]), not \(texts[1])") }
        }
        return problems
    }
}
