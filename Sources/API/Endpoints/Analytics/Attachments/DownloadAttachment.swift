import Analytics
import Files
import HTTP

/// `GET /v1/attachments/download` (analytics §11.3): the link is the credential. nginx sends the file, unless it does not have
/// it: a worker is busy for no longer than it takes to allow that, however slowly it is read.
@Sendable func downloadAttachment(_ call: Call, _: Anyone) throws -> Response {
    let download = try call.database.read { connection in
        try call.analytics.download(call.queryParameters["t"], connection)
    }
    let headers: [Response.Field] = [
        Response.Field("Content-Type", download.contentType), .attachment(filename: download.filename),
        Response.Field("X-Content-Type-Options", "nosniff"), Response.Field("Cache-Control", "private, no-store"),
    ]
    return switch call.analytics.settings.attachments.sender {
    case .worker: Response(.ok, headers: headers, stream: download.content)
    case .nginx:
        // The location of nginx/merganser/download.conf.
        Response(.ok, headers: headers + [Response.Field("X-Accel-Redirect", "/-/attachments/\(download.location)")])
    }
}

extension StoredFile: ResponseStream {}
