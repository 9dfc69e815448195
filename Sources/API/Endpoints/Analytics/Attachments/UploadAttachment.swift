import Analytics
import Database
import Files
import HTTP
import Logging
import Text
import Time

private struct UploadReply: Encodable {
    var attachmentID: Attachment.ID
    var sizeBytes: Int64
    var sha256: String
    var downloadURL: String
    var downloadURLExpiresAt: String
}

/// `PUT /v1/ingest/attachment/{id}` (analytics §11.2). nginx does not buffer the body, so a slow client keeps a worker
/// waiting. The waiting time and the number of such workers are limited.
@Sendable func uploadAttachment(_ call: Call, _ key: APIKey) throws -> Response {
    let upload = try call.find { try call.analytics.beginUpload(call.arguments[0], by: key, $0) }
    if call.request.headers.first("content-type")?.mediaType != "application/octet-stream" {
        throw Refusal.invalid("Request body must be sent with Content-Type: application/octet-stream")
    }
    guard let response = try call.waitOutside(for: upload.app, { try receive(upload, call) }) else {
        throw Refusal.temporarilyUnavailable
    }
    return response
}

private func receive(_ upload: AttachmentUpload, _ call: Call) throws -> Response {
    let body = call.request.body
    var pace = Pace(leastRate: 8192, patience: call.service.front.uploadPatience)
    do {
        try call.analytics.receive(upload, length: body.length, call.database) {
            try body.read(atMost: 65_536, keeping: &pace)
        }
    } catch let error as FileError {
        call.logger.error("the attachment could not be stored", metadata: ["error": "\(error)"])
        throw Refusal.uploadFailed
    } catch BodyError.tooSlow {
        // The reservation stays, so that the client can try again.
        throw Refusal.attachment(
            AttachmentRejection(.tooSlow, "Upload was slower than \(pace.leastRate) bytes per second"))
    } catch is BodyError {
        throw UnusableBody.incomplete
    }
    let link = call.downloadLink(for: upload.id)
    return .json(
        .ok,
        UploadReply(
            attachmentID: upload.id, sizeBytes: upload.size, sha256: upload.digest.rawValue, downloadURL: link.url,
            downloadURLExpiresAt: link.expiresAt.iso8601Milliseconds))
}
