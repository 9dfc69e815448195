package import Database
package import MariaDB

/// A reservation whose upload may begin: it passed all checks that precede the body.
package struct AttachmentUpload: Sendable {
    package let id: Attachment.ID
    package let app: App.ID
    package let size: Int64
    package let digest: ContentDigest
    let clientEventID: UUID
}

extension Analytics {
    var attachmentStore: any AttachmentStore { AttachmentDirectory(settings.attachments) }

    /// The checks that need no body, in their order (analytics §11.2).
    ///
    /// - Parameter id: the id as the client sent it.
    package func beginUpload(_ id: String, by key: APIKey, _ connection: Connection) throws -> AttachmentUpload {
        let app = try key.scopedApp()
        guard let id = Attachment.ID(id), let state = try connection.uploadState(of: id) else {
            throw Refusal.attachmentNotFound
        }
        if state.app != app.id { throw Refusal.forbidden("Attachment belongs to a different app") }
        try state.checkOpen()
        return AttachmentUpload(
            id: id, app: app.id, size: state.size, digest: state.digest,
            clientEventID: state.clientEventID)
    }

    /// Reads the bytes of an upload and stores them. No lock is held until all bytes have arrived.
    ///
    /// - Parameters:
    ///   - length: the announced number of bytes; nil if none was announced.
    ///   - next: returns the next part, and an empty one at the end.
    /// - Throws: what `next` throws, and `FileError` if the store fails. The reservation is kept then.
    package func receive(
        _ upload: AttachmentUpload, length: Int?, _ database: Database, _ next: () throws -> [UInt8]
    ) throws {
        if let length, length > upload.size {
            try refuse(upload, .tooManyBytes, "Upload exceeded declared size", database)
        }
        let content = try attachmentStore.put(atMost: upload.size, next)
        if content.size > upload.size { try refuse(upload, .tooManyBytes, "Upload exceeded declared size", database) }
        if content.size < upload.size {
            try refuse(
                upload, .tooFewBytes, "Uploaded size \(content.size) does not match declared \(upload.size)", database)
        }
        if content.digest != upload.digest {
            try refuse(upload, .hashMismatch, "Uploaded bytes do not match declared sha256", database)
        }
        // For an event that was stored on another node of a cluster.
        try database.catchUp()
        try write(database) { transaction in try transaction.finish(upload, content) }
    }

    /// Removes the reservation, unless another upload has filled it meanwhile.
    private func refuse(
        _ upload: AttachmentUpload, _ code: AttachmentRejection.Code, _ message: String, _ database: Database
    ) throws -> Never {
        try write(database) { transaction in try transaction.removeReservation(upload.id) }
        throw Refusal.attachment(AttachmentRejection(code, message))
    }
}

extension AnalyticsTransaction {
    /// Stores the file before the row names it as uploaded. Clean-up removes no file that a row names. But clean-up may
    /// have looked before the reservation was made. So both take the lock of the content (see `lockContent`).
    fileprivate func finish(_ upload: AttachmentUpload, _ content: any StagedContent) throws {
        // Before the attachment, as in a reservation.
        let owner = connection.isClusterNode ? try lockOwner(ofEvent: upload.clientEventID, of: upload.app) : nil
        try lockContent(upload.digest)
        guard let state = try lockUploadState(of: upload.id) else { throw Refusal.attachmentNotFound }
        try state.checkOpen()
        try content.keep()
        try setUploaded(upload.id)
        if connection.isClusterNode, !state.isLinked { try linkLate(upload, owner) }
    }

    /// If an event and its reservation were stored on two nodes of a cluster at the same moment, neither saw the other. As
    /// when an event finds its attachment, no quota is asked: the reservation named no user (analytics §11.1, check 11).
    ///
    /// - Parameter owner: of the event, locked.
    private func linkLate(_ upload: AttachmentUpload, _ owner: Record?) throws {
        guard let event = try lockEvent(upload.clientEventID, of: upload.app) else { return }
        if event.owner != owner?.id { throw TransactionMustRestart() }
        try link(upload.id, to: event.id, of: owner?.id)
    }
}

/// The part of a row that decides whether its file may be uploaded.
struct UploadState {
    let app: App.ID
    let size: Int64
    let digest: ContentDigest
    let isDeleted: Bool
    let isUploaded: Bool
    let isLinked: Bool
    let clientEventID: UUID

    fileprivate func checkOpen() throws(Refusal) {
        if isDeleted { throw .gone("Attachment has been deleted") }
        if isUploaded {
            throw .attachment(AttachmentRejection(.alreadyUploaded, "Attachment has already been uploaded"))
        }
    }
}
