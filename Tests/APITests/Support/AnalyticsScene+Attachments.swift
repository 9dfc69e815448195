import Analytics
import HTTP
import JSON
import OpenSSL
import TestSupport
import Testing
import Text

import class Foundation.FileManager

/// How SDKs attach files, and what is in the store.
extension AnalyticsScene {
    /// Reserves room for these bytes.
    ///
    /// - Parameter changes: members to replace; nil leaves a member out.
    func reservation(
        of bytes: [UInt8], _ changes: KeyValuePairs<String, JSONValue?> = [:], token: String? = nil
    ) -> RepeatableRequest {
        let usual: KeyValuePairs<String, JSONValue?> = [
            "client_event_id": .string(uuid(1)), "user_id": "u", "original_filename": "a.txt",
            "content_type": "text/plain", "size_bytes": .integer(Int64(bytes.count)),
            "sha256": .string(sha256(bytes).hexadecimal),
        ]
        let kept = usual.filter { member in !changes.contains { $0.key == member.key } }
        let members = (kept + Array(changes)).compactMap { name, value in value.map { (name, $0) } }
        return post("/v1/ingest/attachment", .object(JSONObject(members)), token)
    }

    /// - Returns: the id of the reservation.
    func reserve(
        _ client: Client, _ bytes: [UInt8], _ changes: KeyValuePairs<String, JSONValue?> = [:], token: String? = nil
    ) throws -> String {
        let answer = client.send(reservation(of: bytes, changes, token: token))
        try #require(answer.status == 201, "\(answer)")
        return try #require(answer["attachment_id"]?.string)
    }

    func upload(_ client: Client, _ id: String, _ bytes: [UInt8], token: String? = nil) -> Answer {
        upload(client, id, body: BufferedBody(bytes), token: token)
    }

    func upload(
        _ client: Client, _ id: String, body: any RequestBody, contentType: String? = "application/octet-stream",
        token: String? = nil, from address: String = ""
    ) -> Answer {
        let type = contentType.map { [(name: "content-type", value: $0)] } ?? []
        return client.send(
            Request(
                method: .put, path: "/v1/ingest/attachment/\(id)",
                headers: Headers([("authorization", "Bearer \(token ?? clientKey)")] + type), remoteAddress: address,
                body: body))
    }

    /// Reserves and uploads.
    @discardableResult
    func attach(
        _ client: Client, _ bytes: [UInt8], _ changes: KeyValuePairs<String, JSONValue?> = [:], token: String? = nil
    ) throws -> String {
        let id = try reserve(client, bytes, changes, token: token)
        let answer = upload(client, id, bytes, token: token)
        try #require(answer.status == 200, "\(answer)")
        return id
    }

    /// - Parameter timestamp: the event's own time; nil for the present time.
    @discardableResult
    func insertEvent(
        _ clientEventID: String, user: String?, app id: UUID? = nil
    ) throws -> UUID {
        let event = UUID(at: app.time.now)
        try app.change(
            """
            INSERT INTO events (id, app_id, client_event_id, session_id, app_user_id, level, message, is_dev, timestamp,
                                received_at)
            SELECT ?, ?, ?, ?, (SELECT id FROM app_users WHERE project_id = ? AND user_id = ?), 'info', 'm', 0, ?, ?
            """, event, id ?? appID, UUID(clientEventID), UUID(uuid(99)), project, user, app.time.now, app.time.now)
        return event
    }

    // MARK: Looking

    var store: AttachmentDirectory { AttachmentDirectory(app.attachments.path) }

    /// The digests of all files in the store.
    func storedFiles() throws -> [String] {
        var names: [String] = []
        try store.list { names += $0.map(\.rawValue) }
        return names.sorted()
    }

    /// The number of uploads that are being written, or were abandoned.
    func stagedFiles() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: app.attachments.file("new")).count
    }

    func reservations() throws -> Int { try app.count("SELECT COUNT(*) FROM event_attachments") }
}

/// A body whose reads run a test's closure.
final class ScriptedBody: RequestBody {
    let length: Int?
    /// How often it was read.
    private(set) var reads = 0
    private let next: (Int) throws(BodyError) -> [UInt8]

    /// - Parameter next: returns the part for each read, by its number (from 0).
    init(length: Int? = nil, _ next: @escaping (Int) throws(BodyError) -> [UInt8]) {
        self.length = length
        self.next = next
    }

    func read(atMost count: Int) throws(BodyError) -> [UInt8] {
        defer { reads += 1 }
        let part = try next(reads)
        precondition(part.count <= count)
        return part
    }
}

extension Answer {
    /// The whole body, from memory or from its stream.
    func content() throws -> [UInt8] {
        var bytes = response.body
        while let part = try response.stream?.read(atMost: 65_536), !part.isEmpty { bytes += part }
        return bytes
    }
}

/// A rejection as `Answer.description` writes it.
func rejection(_ status: Int, _ code: String, _ message: String, _ more: String = "") -> String {
    let text = message.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\\"")
    return #"\#(status) {"code":"\#(code)","message":"\#(text)"\#(more)}"#
}
