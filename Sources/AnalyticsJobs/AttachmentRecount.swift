package import Analytics
package import Database
import MariaDB

/// Corrects the attachment counts of projects and records (analytics §11.1) that differ from their rows.
///
/// Triggers keep the counts. A count is wrong only if somebody changed it by hand, changed the size or the project of a row,
/// or wrote rows while the triggers were missing.
package struct AttachmentRecount: Sendable {
    /// What keeps a count: a row of `projects` or of `app_users`.
    package enum Holder: Hashable, Sendable {
        case project(Project.ID)
        case record(Record.ID)
    }

    package struct Count: Equatable, Sendable {
        package let bytes: Int64
        package let files: Int64
    }

    package struct Correction: Equatable, Sendable {
        package let holder: Holder
        package let counted: Count
        /// What the rows add up to.
        package let actual: Count
    }

    private let isDryRun: Bool

    package init(isDryRun: Bool = false) { self.isDryRun = isDryRun }

    /// - Parameter step: called after each correction with the number of corrections so far.
    /// - Returns: the corrections made; in a dry run, those that a run would make.
    package func run(_ database: Database, step: (Int) -> Void = { _ in }) throws -> [Correction] {
        let wrong = try database.read { connection in
            try connection.wrongAttachmentCountsOfRecords() + connection.wrongAttachmentCountsOfProjects()
        }
        if isDryRun { return wrong }
        var corrections: [Correction] = []
        for found in wrong {
            // Nil if another run was faster.
            guard let correction = try Analytics.write(database, { try $0.recount(found.holder) }) else { continue }
            corrections.append(correction)
            step(corrections.count)
        }
        return corrections
    }
}

extension AttachmentRecount.Holder: CustomStringConvertible {
    /// The row as `merganserctl verify` names it.
    package var description: String {
        switch self {
        case .project(let id): "projects \(id.rawValue.digits.uppercased())"
        case .record(let id): "app_users \(id.rawValue)"
        }
    }
}

extension AnalyticsTransaction {
    /// Counts under a lock on the row that keeps the count. Whoever adds, moves or removes an attachment changes that row
    /// in the same transaction, so what they did is either committed and counted, or waits and is added afterwards.
    ///
    /// - Returns: nil if the count was right, or its row is gone.
    fileprivate func recount(_ holder: AttachmentRecount.Holder) throws -> AttachmentRecount.Correction? {
        guard let counted = try lockAttachmentCount(of: holder) else { return nil }
        let actual = try connection.countAttachments(of: holder)
        if actual == counted { return nil }
        switch holder {
        case .project(let id):
            try connection.execute(
                "UPDATE projects SET attachment_bytes = ?, attachment_files = ? WHERE id = ?", actual.bytes,
                actual.files,
                id)
        case .record(let id):
            try connection.execute(
                "UPDATE app_users SET attachment_bytes = ?, attachment_files = ? WHERE id = ?", actual.bytes,
                actual.files, id)
        }
        return AttachmentRecount.Correction(holder: holder, counted: counted, actual: actual)
    }

    private func lockAttachmentCount(of holder: AttachmentRecount.Holder) throws -> AttachmentRecount.Count? {
        switch holder {
        case .project(let id):
            try connection.first(
                "SELECT attachment_bytes, attachment_files FROM projects WHERE id = ? FOR UPDATE", id
            ) { row in try AttachmentRecount.Count(from: &row) }
        case .record(let id):
            try connection.first(
                "SELECT attachment_bytes, attachment_files FROM app_users WHERE id = ? FOR UPDATE", id
            ) { row in try AttachmentRecount.Count(from: &row) }
        }
    }
}

extension Connection {
    fileprivate func countAttachments(of holder: AttachmentRecount.Holder) throws -> AttachmentRecount.Count {
        let count =
            switch holder {
            case .project(let id):
                try first(
                    "SELECT COALESCE(SUM(size_bytes), 0), COUNT(*) FROM event_attachments WHERE project_id = ?", id
                ) { row in try AttachmentRecount.Count(from: &row) }
            case .record(let id):
                try first(
                    "SELECT COALESCE(SUM(size_bytes), 0), COUNT(*) FROM event_attachments WHERE app_user_id = ?", id
                ) { row in try AttachmentRecount.Count(from: &row) }
            }
        return count ?? AttachmentRecount.Count(bytes: 0, files: 0)
    }

    fileprivate func wrongAttachmentCountsOfRecords() throws -> [AttachmentRecount.Correction] {
        try all(
            """
            SELECT u.id, MAX(u.attachment_bytes), MAX(u.attachment_files), COALESCE(SUM(t.size_bytes), 0), COUNT(t.id)
            FROM app_users u LEFT JOIN event_attachments t ON t.app_user_id = u.id
            GROUP BY u.id
            HAVING MAX(u.attachment_bytes) <> COALESCE(SUM(t.size_bytes), 0) OR MAX(u.attachment_files) <> COUNT(t.id)
            ORDER BY u.id
            """
        ) { row in try AttachmentRecount.Correction(of: .record(try row.read()), from: &row) }
    }

    fileprivate func wrongAttachmentCountsOfProjects() throws -> [AttachmentRecount.Correction] {
        try all(
            """
            SELECT p.id, MAX(p.attachment_bytes), MAX(p.attachment_files), COALESCE(SUM(t.size_bytes), 0), COUNT(t.id)
            FROM projects p LEFT JOIN event_attachments t ON t.project_id = p.id
            GROUP BY p.id
            HAVING MAX(p.attachment_bytes) <> COALESCE(SUM(t.size_bytes), 0) OR MAX(p.attachment_files) <> COUNT(t.id)
            ORDER BY p.id
            """
        ) { row in try AttachmentRecount.Correction(of: .project(try row.read()), from: &row) }
    }
}

extension AttachmentRecount.Count {
    fileprivate init(from row: inout Row) throws(MariaDBError) {
        bytes = try row.read()
        files = try row.read()
    }
}

extension AttachmentRecount.Correction {
    fileprivate init(of holder: AttachmentRecount.Holder, from row: inout Row) throws(MariaDBError) {
        self.holder = holder
        counted = try AttachmentRecount.Count(from: &row)
        actual = try AttachmentRecount.Count(from: &row)
    }
}
