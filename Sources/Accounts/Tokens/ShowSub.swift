package import MariaDB

extension Accounts {
    /// The subject that one of the application's subs stands for. Subs of revoked grants and subs that a swap absorbed
    /// are found too (accounts §2.9).
    ///
    /// - Throws: `unknownSub`, also if the account is deleted.
    package func subject(
        knownAs sub: String, at application: Application, _ connection: Connection
    ) throws -> Subject {
        guard let subject = try connection.subject(sub, at: application.id) else { throw Failure.unknownSub }
        return subject
    }
}

extension Connection {
    /// Looks a sub up among the application's grants and absorbed subs; nil if there is none or the account is deleted.
    func subject(_ sub: String, at application: Application.ID) throws -> Subject? {
        guard sub.isASCII else { return nil }
        var sql = ComposedSQL(select: Subject.ownColumns, Subject.mergeColumns, from: "")
        sql.append(
            """
            (SELECT application_id, sub, user_id, last_used_at FROM grants WHERE application_id = ? AND sub = ?
             UNION ALL
             SELECT application_id, sub, canonical_user_id, NULL FROM absorbed_subs
             WHERE application_id = ? AND sub = ?
             LIMIT 1) g 
            """, application, sub, application, sub)
        sql.append(Subject.joins)
        sql.append(" WHERE u.deleted_at IS NULL")
        return try first(sql) { row in try Subject(from: &row) }
    }
}
