import Analytics
import Database
import Files
import HTTP
import Time

/// `GET /v1/attachments/download` (analytics §11.3). The signed link is the credential. If nginx can read the folder,
/// it sends the file, so that a slow client does not keep a worker busy.
@Sendable func downloadAttachment(_ call: Call, _: Anyone) throws -> Response {
    let download = try call.database.read { connection in
        try call.analytics.download(call.queryParameters["t"], connection)
    }
    let headers: [HeaderField] = [
        HeaderField("Content-Type", download.contentType), .attachment(filename: download.filename),
        HeaderField("X-Content-Type-Options", "nosniff"), HeaderField("Cache-Control", "private, no-store"),
    ]
    guard call.service.front.sendsDownloads else { return Response(.ok, headers: headers, stream: download.content) }
    // This location is in nginx/merganser/download.conf.
    let redirect = HeaderField("X-Accel-Redirect", "/-/attachments/\(download.location)")
    return Response(.ok, headers: headers + [redirect])
}

extension Call {
    /// A link to an uploaded attachment, and when it expires.
    func downloadLink(for id: Attachment.ID) -> (url: String, expiresAt: Timestamp) {
        let token = analytics.downloadToken(for: id)
        return ("\(service.front.publicURL)/v1/attachments/download?t=\(token.text)", token.expiry)
    }
}

extension StoredFile: ResponseStream {}
