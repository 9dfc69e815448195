import Analytics
import Files
import HTTP

/// `GET /v1/attachments/download` (analytics §11.3): the link is the credential.
@Sendable func downloadAttachment(_ call: Call, _: Anyone) throws -> Response {
    let download = try call.database.read { connection in
        try call.analytics.download(call.queryParameters["t"], connection)
    }
    return Response(
        .ok,
        headers: [
            Response.Field("Content-Type", download.contentType), .attachment(filename: download.filename),
            Response.Field("X-Content-Type-Options", "nosniff"), Response.Field("Cache-Control", "private, no-store"),
        ], stream: download.content)
}

extension StoredFile: ResponseStream {}
