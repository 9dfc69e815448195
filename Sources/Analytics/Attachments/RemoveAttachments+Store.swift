import MariaDB

extension AnalyticsTransaction {
    /// Locks the rows that count these attachments: end users, then projects, in the order of a reservation. So the
    /// deletion that follows cannot deadlock with a reservation.
    package func lockCounts(of ids: [Attachment.ID]) throws {
        let counting = try connection.all(
            """
            SELECT a.app_user_id, a.project_id
            FROM JSON_TABLE(?, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET ascii PATH '$' ERROR ON ERROR)) j
            STRAIGHT_JOIN event_attachments a ON a.id = UNHEX(j.id)
            """, list(ids.map(\.rawValue.digits))
        ) { row in (user: try row.read(Record.ID?.self), project: try row.read(Project.ID.self)) }
        _ = try lockRecords(Set(counting.compactMap(\.user)))
        for project in Set(counting.map(\.project)).sorted() { _ = try lockQuotas(of: project) }
    }

    /// Removes a reservation, unless its file was uploaded.
    func removeReservation(_ id: Attachment.ID) throws {
        try lockCounts(of: [id])
        try connection.execute("DELETE FROM event_attachments WHERE id = ? AND uploaded_at IS NULL", id)
    }
}
