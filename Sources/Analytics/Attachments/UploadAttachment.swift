package import Database
import Files
package import MariaDB
import Time

/// A reservation that may be filled now, as far as the checks before the body can tell.
package struct AttachmentUpload: Sendable {
    package let id: Attachment.ID
    package let app: App.ID
    package let size: Int64
    package let digest: ContentDigest
}

extension Analytics {
    var attachmentStore: any AttachmentStore { AttachmentDirectory(settings.attachments) }

    /// The checks that need no body (analytics §11.2), in their order.
    ///
    /// - Parameter id: as it was sent.
    package func beginUpload(_ id: String, by key: APIKey, _ connection: Connection) throws -> AttachmentUpload {
        let app = try key.scopedApp()
        guard let id = Attachment.ID(id), let state = try connection.uploadState(of: id) else {
            throw Refusal.attachmentNotFound
        }
        if state.app != app.id { throw Refusal.forbidden("Attachment belongs to a different app") }
        try state.checkOpen()
        return AttachmentUpload(id: id, app: app.id, size: state.size, digest: state.digest)
    }

    /// Takes the bytes of an upload, and makes them the attachment's. No lock is held until all of them are there.
    ///
    /// - Parameters:
    ///   - length: how many were announced; nil when none were.
    ///   - next: the next part; empty at the end.
    /// - Throws: what `next` throws, and `FileError` when the store fails; the reservation is kept.
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
        try write(database) { transaction in try transaction.finish(upload, content) }
    }

    /// Gives the reservation up, unless another upload has filled it meanwhile.
    private func refuse(
        _ upload: AttachmentUpload, _ code: AttachmentRejection.Code, _ message: String, _ database: Database
    ) throws -> Never {
        try write(database) { transaction in try transaction.removeReservation(upload.id) }
        throw Refusal.attachment(AttachmentRejection(code, message))
    }
}

extension AnalyticsTransaction {
    /// The file is in its place before the row says so. It stays there: the row names its digest, and clean-up removes no
    /// file that a row names. What a row cannot rule out is that clean-up looked before the reservation was made; hence the
    /// lock, under which clean-up looks and removes (see `lockContent`).
    fileprivate func finish(_ upload: AttachmentUpload, _ content: any StagedContent) throws {
        try lockContent(upload.digest)
        guard let state = try lockUploadState(of: upload.id) else { throw Refusal.attachmentNotFound }
        try state.checkOpen()
        try content.keep()
        try setUploaded(upload.id)
    }
}

/// What a row says about whether its file may be sent.
struct UploadState {
    let app: App.ID
    let size: Int64
    let digest: ContentDigest
    let isDeleted: Bool
    let isUploaded: Bool

    fileprivate func checkOpen() throws(Refusal) {
        if isDeleted { throw .gone("Attachment has been deleted") }
        if isUploaded {
            throw .attachment(AttachmentRejection(.alreadyUploaded, "Attachment has already been uploaded"))
        }
    }
}
