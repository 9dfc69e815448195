package import Database

extension Analytics {
    /// Reserves space for a file (analytics §11.1, checks 9 to 12). Check and insert are one transaction under a lock
    /// on the project, so concurrent reservations never exceed a quota.
    package func reserve(
        _ reservation: AttachmentReservation, for app: App, _ database: Database
    ) throws -> Attachment.ID {
        if app.isDeleted { throw Refusal.invalid("App associated with this API key no longer exists") }
        if app.project.isDeleted { throw Refusal.invalid("Project associated with this API key no longer exists") }
        let maximum = settings.attachments.maximumSize
        if reservation.size > maximum {
            throw Refusal.attachment(
                AttachmentRejection(.fileTooLarge, "Attachment exceeds the maximum size of \(maximum) bytes"))
        }
        return try write(database) { transaction in try transaction.reserve(reservation, for: app) }
    }
}

extension AnalyticsTransaction {
    fileprivate func reserve(_ reservation: AttachmentReservation, for app: App) throws -> Attachment.ID {
        // Records are locked before the project: here the named user, or the owner of the event.
        let owner = try lockOwner(of: reservation, in: app)
        let quotas = try lockQuotas(of: app.project.id)
        if reservation.user != nil, let owner {
            try quotas.user.check(
                used: attachmentBytes(of: owner), adding: reservation.size, .userQuotaExhausted,
                "User attachment quota")
        }
        try quotas.project.check(
            used: quotas.used, adding: reservation.size, .quotaExhausted, "Project attachment quota")

        let id = Attachment.ID(at: now)
        try insert(reservation, id, for: app, owner: owner?.id)
        // The order matters: ingest inserts events and then looks for attachments. Whichever transaction is later waits
        // for the row of the other one and finds it.
        if let event = try lockEvent(reservation.clientEventID, of: app.id) {
            if reservation.user == nil, event.owner != owner?.id { throw TransactionMustRestart() }
            try link(id, to: event.id, of: owner?.id)
        }
        return id
    }

    private func lockOwner(of reservation: AttachmentReservation, in app: App) throws -> Record? {
        if let user = reservation.user {
            let isDev = reservation.isDev && app.platform != .backend
            return try lockOwner(of: user, in: app.project.id, orCreate: NewRecord(isDev: isDev))
        }
        return try lockOwner(ofEvent: reservation.clientEventID, of: app.id)
    }

    /// The owner of the newest event with this client id; nil if there is no such event, or it has no owner.
    func lockOwner(ofEvent clientEventID: UUID, of app: App.ID) throws -> Record? {
        guard let id = try connection.eventOwner(clientEventID, of: app) else { return nil }
        guard let owner = try lockRecord(id), owner.mergedInto == nil else { throw TransactionMustRestart() }
        return owner
    }
}

/// The most bytes that may be reserved.
struct AttachmentQuota {
    var limit: Int64

    /// - Throws: `attachment` if the quota would be exceeded. Reaching it exactly is allowed.
    fileprivate func check(
        used: Int64, adding size: Int64, _ code: AttachmentRejection.Code, _ name: String
    ) throws(Refusal) {
        guard used + size > limit else { return }
        throw .attachment(
            AttachmentRejection(
                code, "\(name) would be exceeded (\(used) + \(size) > \(limit) bytes)", quota: limit, used: used))
    }
}
