import MariaDB

extension AnalyticsTransaction {
    /// Locks a project, and reads its quotas and the bytes that its attachments use.
    func lockQuotas(
        of project: Project.ID
    ) throws -> (user: AttachmentQuota, project: AttachmentQuota, used: Int64) {
        let quotas = try connection.first(
            """
            SELECT attachment_user_quota_bytes, attachment_project_quota_bytes, attachment_bytes
            FROM projects WHERE id = ? FOR UPDATE
            """, project
        ) { row in
            let quotas = AttachmentQuota.effective(user: try row.read(), project: try row.read())
            return (quotas.user, quotas.project, try row.read(Int64.self))
        }
        guard let quotas else { throw MariaDBError("the project of an app does not exist") }
        return quotas
    }

    /// The bytes that a user's attachments use. The record is locked, so no attachment is added meanwhile.
    func attachmentBytes(of user: Record) throws -> Int64 {
        try connection.first("SELECT attachment_bytes FROM app_users WHERE id = ?", user.id) { row in
            try row.read()
        } ?? 0
    }

    func insert(
        _ reservation: AttachmentReservation, _ id: Attachment.ID, for app: App, owner: Record.ID?
    ) throws {
        try connection.execute(
            """
            INSERT INTO event_attachments (id, project_id, app_id, event_client_id, app_user_id, original_filename,
                                           content_type, size_bytes, sha256, is_dev, created_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, id, app.project.id, app.id, reservation.clientEventID, owner, reservation.filename,
            reservation.contentType, reservation.size, reservation.digest, reservation.isDev, now)
    }

    /// The newest event with this client id, and its owner. Waits for a transaction that is inserting such an event.
    func lockEvent(_ clientEventID: UUID, of app: App.ID) throws -> (id: UUID, owner: Record.ID?)? {
        try connection.first(
            """
            SELECT e.id, COALESCE((SELECT u.merged_into FROM app_users u WHERE u.id = e.app_user_id), e.app_user_id)
            FROM events e FORCE INDEX (events_client_event)
            WHERE e.app_id = ? AND e.client_event_id = ?
              AND e.timestamp >= (SELECT h.horizon FROM retention_horizons h WHERE h.table_name = 'events')
            ORDER BY e.timestamp DESC LIMIT 1
            LOCK IN SHARE MODE
            """, app, clientEventID
        ) { row in (try row.read(), try row.read()) }
    }

    /// - Parameter owner: of the event; an attachment that has one keeps it.
    func link(_ id: Attachment.ID, to event: UUID, of owner: Record.ID?) throws {
        try connection.execute(
            "UPDATE event_attachments SET event_id = ?, app_user_id = COALESCE(app_user_id, ?) WHERE id = ?", event,
            owner, id)
    }
}

extension Connection {
    /// The present owner of the newest event with this client id; nil if there is no such event, or it has no owner.
    func eventOwner(_ clientEventID: UUID, of app: App.ID) throws -> Record.ID? {
        try first(
            """
            SELECT COALESCE((SELECT u.merged_into FROM app_users u WHERE u.id = e.app_user_id), e.app_user_id)
            FROM events e FORCE INDEX (events_client_event)
            WHERE e.app_id = ? AND e.client_event_id = ?
              AND e.timestamp >= (SELECT h.horizon FROM retention_horizons h WHERE h.table_name = 'events')
            ORDER BY e.timestamp DESC LIMIT 1
            """, app, clientEventID
        ) { row in try row.read(Record.ID?.self) } ?? nil
    }
}

extension AttachmentQuota {
    /// A project's own limits, or else 250 MiB for each user and 5 GiB for the project (analytics §11.1).
    static func effective(
        user: Int64?, project: Int64?
    ) -> (user: AttachmentQuota, project: AttachmentQuota) {
        (AttachmentQuota(limit: user ?? 262_144_000), AttachmentQuota(limit: project ?? 5_368_709_120))
    }
}
