import Foundation
import JSON
import MariaDB
import OpenSSL
import TestSupport
import Testing
import Text

/// Uploads to real processes: killed at every stage, and large (analytics §11.2, §16.7).
@Suite struct AttachmentServerTests {
    private let bytes = [UInt8](repeating: 0x61, count: 100_000)

    // MARK: kill -9

    @Test func killedWhileReceiving() throws {
        let scene = try AttachmentScene()
        let server = try scene.installation.readyServer()
        let id = try scene.reserve(bytes)
        let client = try scene.beginUpload(id, bytes)
        for part in [bytes[..<50_000], bytes[50_000..<99_999]] {
            try client.send(FastCGIClient.record(FastCGIClient.RecordType.standardInput, Array(part)))
        }
        try server.wait(for: "bytes on disk") { try scene.stagedSizes().contains { $0 > 0 } }
        try killAndRecover(server, scene, id)
    }

    @Test func killedBeforeTheFileIsInItsPlace() throws {
        let scene = try AttachmentScene()
        let server = try scene.installation.readyServer()
        let id = try scene.reserve(bytes)
        let holder = try scene.installation.database.connect()
        try holder.begin()
        try holder.execute("INSERT INTO attachment_locks (sha256) VALUES (?)", sha256(bytes).hexadecimal)
        let client = try scene.beginUpload(id, bytes)
        try client.send(FastCGIClient.stream(FastCGIClient.RecordType.standardInput, bytes))
        try server.wait(for: "the upload to wait") { try scene.hasLockWait }
        #expect(try scene.stagedSizes() == [100_000])
        #expect(!scene.isStored(bytes))
        try killAndRecover(server, scene, id) { try holder.rollback() }
    }

    /// Locks the index entry that the last UPDATE must change, so everything before it has happened.
    @Test func killedBetweenRenameAndCommit() throws {
        let scene = try AttachmentScene()
        let server = try scene.installation.readyServer()
        let id = try scene.reserve(bytes)
        let holder = try scene.installation.database.connect()
        try holder.begin()
        let locked = try holder.all(
            """
            SELECT LOWER(HEX(id)) FROM event_attachments FORCE INDEX (event_attachments_pending)
            WHERE uploaded_at IS NULL LOCK IN SHARE MODE
            """
        ) { row in try row.read(String.self) }
        #expect(locked == [id.replacing("-", with: "")])
        let client = try scene.beginUpload(id, bytes)
        try client.send(FastCGIClient.stream(FastCGIClient.RecordType.standardInput, bytes))
        try server.wait(for: "the upload to wait") {
            try scene.isStored(bytes) && scene.hasLockWait
        }
        #expect(try scene.stagedSizes().isEmpty)
        try killAndRecover(server, scene, id) { try holder.rollback() }
    }

    @Test func killedAfterTheAnswer() throws {
        let scene = try AttachmentScene()
        let server = try scene.installation.readyServer()
        let id = try scene.reserve(bytes)
        #expect(try scene.upload(id, bytes) == 200)
        server.kill()
        try server.waitForExit()
        try scene.expectNoRowWithoutItsBytes(uploaded: 1)
    }

    /// After the server's end, the row says that it has no file. The next server accepts the same upload.
    private func killAndRecover(
        _ server: ChildProcess, _ scene: AttachmentScene, _ id: String, releasing: () throws -> Void = {}
    ) throws {
        server.kill()
        #expect(try server.waitForExit() == .signal(9))
        try releasing()
        try scene.expectNoRowWithoutItsBytes(uploaded: 0)
        let next = try scene.installation.readyServer()
        #expect(try scene.upload(id, bytes) == 200)
        try scene.expectNoRowWithoutItsBytes(uploaded: 1)
        next.terminate()
        #expect(try next.waitForExit() == .status(0))
    }

    // MARK: Through nginx

    /// A refused client gets its answer when the body has only begun, and no worker waits for the rest.
    @Test func refusalsDoNotWaitForTheBody() throws {
        let front = try Front()
        let socket = front.run.file("merganser.sock")
        let scene = try AttachmentScene(["MERGANSER_SOCKET": socket])
        let server = try scene.installation.readyServer()
        defer { withExtendedLifetime((front, server)) {} }
        let id = try scene.reserve(bytes, at: socket)
        func begin(_ id: String, size: Int, type: String = "application/octet-stream") throws -> HTTPConnection {
            let connection = try front.connect()
            let headers = [scene.uploadHeaders[0], ("Content-Type", type), ("Content-Length", "\(size)")]
            let head =
                "PUT /v1/ingest/attachment/\(id) HTTP/1.1\r\nHost: localhost\r\n"
                + headers.map { "\($0.0): \($0.1)\r\n" }.joined() + "\r\n"
            try connection.send(Array(head.utf8) + bytes.prefix(1000))
            return connection
        }
        let size = 200 << 20
        let unknown = try begin("x", size: size).receiveAnswer()
        #expect(unknown.status == 404 && text(unknown) == #"{"error":"Attachment not found"}"#)
        let type = try begin(id, size: size, type: "text/plain").receiveAnswer()
        #expect(type.status == 400)
        // Three of four workers may wait for uploads, two of them for one network.
        let waiting = try (0..<2).map { _ in try begin(id, size: bytes.count) }
        try server.wait(for: "two uploads") { try scene.stagedSizes().count == 2 }
        let refused = try begin(id, size: bytes.count).receiveAnswer()
        #expect(refused.status == 503 && text(refused) == #"{"error":"Service temporarily unavailable"}"#)
        #expect(refused.header("retry-after") == "1")
        for connection in waiting { try connection.send(Array(bytes.dropFirst(1000))) }
        #expect(try waiting.map { try $0.receiveAnswer().status }.sorted() == [200, 409])

        let other = try scene.reserve(bytes, at: socket)
        let large = try begin(other, size: size).receiveAnswer()
        #expect(
            large.status == 413
                && text(large) == #"{"code":"size_mismatch","message":"Upload exceeded declared size"}"#)
        // More than nginx takes, which the first chunk says before any of it has come.
        let last = try scene.reserve(bytes, at: socket)
        let chunked = try front.connect()
        let fields = [scene.uploadHeaders[0], ("Content-Type", "application/octet-stream")]
        try chunked.send(
            Array(
                """
                PUT /v1/ingest/attachment/\(last) HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\
                \(fields.map { "\($0.0): \($0.1)\r\n" }.joined())\r\n40000000\r\nx
                """.utf8))
        let endless = try chunked.receiveAnswer()
        #expect(endless.status == 413 && endless.body == large.body)
        try scene.expectNoRowWithoutItsBytes(uploaded: 1)
    }

    private func text(_ answer: HTTPConnection.Answer) -> String { String(decoding: answer.body, as: UTF8.self) }

    @Test func theLargestUploadGrowsTheServerByNoMoreThanBuffers() throws {
        let front = try Front()
        let scene = try AttachmentScene([
            "MERGANSER_SOCKET": front.run.file("merganser.sock"), "MERGANSER_ATTACHMENT_SENDER": "worker",
        ])
        let server = try scene.installation.readyServer()
        defer { withExtendedLifetime((front, server)) {} }
        let part = (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 7) }

        let warmUp = try scene.reserve(part, at: "\(front.run.path)/merganser.sock")
        let connection = try front.connect()
        #expect(
            try connection.ask("PUT", "/v1/ingest/attachment/\(warmUp)", headers: scene.uploadHeaders, body: part)
                .status
                == 200)

        let hash = SHA256Stream()
        for _ in 0..<250 { hash.update(part) }
        let digest = hash.finish().hexadecimal
        let id = try scene.reserve(
            size: 250 << 20, digest: digest, at: "\(front.run.path)/merganser.sock")
        let before = try peakMemory(of: server)
        let head =
            "PUT /v1/ingest/attachment/\(id) HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(250 << 20)\r\n"
            + scene.uploadHeaders.map { "\($0.0): \($0.1)\r\n" }.joined() + "\r\n"
        try connection.send(Array(head.utf8))
        for _ in 0..<250 { try connection.send(part) }
        let answer = try connection.receiveAnswer()
        #expect(answer.status == 200)
        #expect(try peakMemory(of: server) - before < 4 << 20)
        #expect(scene.fileSize(digest) == 250 << 20)

        // And down again, with a body that is not held either.
        let link = try #require(try JSONValue(json: answer.body)["download_url"]?.string)
        let path = try #require(link.split(separator: "8080", maxSplits: 1).last)
        let downloaded = try front.connect().ask("GET", String(path))
        #expect(downloaded.status == 200 && downloaded.body.count == 250 << 20)
        #expect(sha256(downloaded.body).hexadecimal == digest)
        #expect(try peakMemory(of: server) - before < 4 << 20)
        try scene.expectNoRowWithoutItsBytes(uploaded: 2)
    }

    /// `VmHWM` (proc_pid_status(5)), in bytes.
    private func peakMemory(of process: ChildProcess) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process.pid)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(Int(line.filter(\.isNumber))) * 1024
    }

    // MARK: merganserctl attachments clean

    @Test func cleanUpFreesQuotasAtOnce() throws {
        let scene = try AttachmentScene()
        let server = try scene.installation.readyServer()
        defer { withExtendedLifetime(server) {} }
        let id = try scene.reserve(bytes)
        #expect(try scene.upload(id, bytes) == 200)
        let kept = Array("kept".utf8)
        #expect(try scene.upload(try scene.reserve(kept), kept) == 200)
        try scene.installation.database.connect().execute(
            "UPDATE event_attachments SET deleted_at = NOW(3) - INTERVAL 1 SECOND WHERE HEX(id) = ?",
            id.replacing("-", with: "").uppercased())
        #expect(try scene.installation.tool("attachments", "clean", "--json").json()["removed"]?["attachments"] == 0)
        let plan = try scene.installation.tool("attachments", "clean", "--at-once", "--dry-run", "--json")
        #expect(try plan.json()["removed"]?["attachments"] == 1)
        #expect(scene.isStored(bytes))
        let done = try scene.installation.tool("attachments", "clean", "--at-once", "--json")
        #expect(try done.json()["removed"] == ["attachments": 1, "reservations": 0, "files": 1, "temporary_files": 0])
        #expect(!scene.isStored(bytes) && scene.isStored(kept))
    }

    @Test func cleanUpTellsWhatItRemoves() throws {
        let scene = try AttachmentScene()
        let server = try scene.installation.readyServer()
        defer { withExtendedLifetime(server) {} }
        let id = try scene.reserve(bytes)
        #expect(try scene.upload(id, bytes) == 200)
        _ = try scene.reserve(Array("never sent".utf8))
        try scene.installation.database.connect().execute(
            """
            UPDATE event_attachments SET deleted_at = '2020-01-01', created_at = '2020-01-01'
            WHERE id = UNHEX(REPLACE(?, '-', ''))
            """, id)
        try scene.installation.database.connect().execute(
            "UPDATE event_attachments SET created_at = '2020-01-01' WHERE uploaded_at IS NULL")

        let plan = try scene.installation.tool("attachments", "clean", "--dry-run", "--json")
        #expect(
            plan.output
                == #"{"dry_run":true,"removed":{"attachments":1,"reservations":1,"files":0,"temporary_files":0}}"#
                + "\n")
        #expect(scene.isStored(bytes))
        let done = try scene.installation.tool("attachments", "clean")
        #expect(
            done.output == """
                deleted attachments      1
                reservations             1
                files                    1
                temporary files          0

                """)
        #expect(done.exit == .status(0) && done.errorOutput.isEmpty)
        #expect(!scene.isStored(bytes))
        #expect(
            try scene.installation.tool("attachments", "clean", "--json").json()["removed"]?["files"] == 0)
        let elsewhere = try scene.installation.tool(
            "attachments", "clean", setting: ["MERGANSER_ATTACHMENT_DIR": "/nowhere"])
        #expect(elsewhere.exit == .status(1))
        #expect(
            elsewhere.errorOutput.contains(
                "opendir /nowhere/00: No such file or directory; set MERGANSER_ATTACHMENT_DIR"))
        let unset = try scene.installation.tool("attachments", "clean", setting: ["MERGANSER_ATTACHMENT_DIR": ""])
        #expect(unset.exit == .status(78) && unset.errorOutput.contains("MERGANSER_ATTACHMENT_DIR: is not set"))
    }

    // MARK: merganserctl attachments recount

    @Test func recountShowsWhatItCorrects() throws {
        let scene = try AttachmentScene()
        let server = try scene.installation.readyServer()
        defer { withExtendedLifetime(server) {} }
        _ = try scene.reserve(bytes)
        let db = try scene.installation.database.connect()
        try db.execute("UPDATE projects SET attachment_bytes = 1, attachment_files = 2")
        #expect(try scene.installation.tool("verify").exit == .status(1))

        let project = try #require(try db.first("SELECT HEX(id) FROM projects") { row in try row.read(String.self) })
        let plan = try scene.installation.tool("attachments", "recount", "--dry-run", "--json")
        #expect(
            try plan.json() == [
                "dry_run": true,
                "corrected": [
                    [
                        "row": .string("projects \(project)"), "before": ["files": 2, "bytes": 1],
                        "after": ["files": 1, "bytes": .integer(Int64(bytes.count))],
                    ]
                ],
            ])
        #expect(try scene.installation.tool("verify").exit == .status(1))
        let done = try scene.installation.tool("attachments", "recount")
        #expect(done.exit == .status(0) && done.errorOutput.isEmpty)
        #expect(done.output == "projects \(project): 2 files, 1 bytes → 1 files, \(bytes.count) bytes\n")
        #expect(try scene.installation.tool("verify").exit == .status(0))
        #expect(try scene.installation.tool("attachments", "recount").output == "all counts are correct\n")
    }
}

/// An installation with an app and its client key.
final class AttachmentScene {
    let installation: Installation
    private let project: String
    let key: String

    init(_ variables: [String: String] = [:]) throws {
        installation = try Installation(variables)
        project = try installation.project().project
        key = try Self.makeKey(installation, project)
    }

    /// Behind an nginx that has its folder.
    convenience init(behind front: Front, _ variables: [String: String] = [:]) throws {
        let socket = front.run.file("merganser.sock")
        try self.init(["MERGANSER_SOCKET": socket].merging(variables) { $1 })
        try installation.directory.link("fastcgi.sock", to: socket)
        try front.run.link("attachments", to: installation.directory.file("attachments"))
    }

    var uploadHeaders: [(String, String)] { Self.uploadHeaders(key) }

    static func uploadHeaders(_ key: String) -> [(String, String)] {
        [("Authorization", "Bearer \(key)"), ("Content-Type", "application/octet-stream")]
    }

    /// The client key of another app in the project.
    func otherKey() throws -> String { try Self.makeKey(installation, project) }

    private static func makeKey(_ installation: Installation, _ project: String) throws -> String {
        let app = try installation.created(
            "app", "create", "--project", project, "--platform", "web", "--name", "Notes")
        let key = try installation.created(
            "api-key", "create", "--type", "client", "--app", try #require(app["id"]?.string))
        return try #require(key["secret"]?.string)
    }

    func reserve(_ bytes: [UInt8], at socket: String? = nil, key: String? = nil) throws -> String {
        try reserve(size: bytes.count, digest: sha256(bytes).hexadecimal, at: socket, key: key)
    }

    /// - Returns: the reservation's id.
    func reserve(size: Int, digest: String, at socket: String? = nil, key: String? = nil) throws -> String {
        let client = try FastCGIClient(socket ?? installation.directory.file("fastcgi.sock"))
        let body = """
            {"client_event_id":"018f3f1c-0000-7000-8000-000000000000","original_filename":"f","content_type":"text/plain",
             "size_bytes":\(size),"sha256":"\(digest)"}
            """
        let answer = try client.ask(
            "POST", "/v1/ingest/attachment",
            headers: [("HTTP_AUTHORIZATION", "Bearer \(key ?? self.key)"), ("CONTENT_TYPE", "application/json")],
            body: Array(body.utf8), keep: false)
        let id = try answer.flatMap { try JSONValue(json: $0.body)["attachment_id"]?.string }
        return try #require(id, "\(String(describing: answer))")
    }

    /// Sends everything that precedes the body.
    func beginUpload(_ id: String, _ bytes: [UInt8]) throws -> FastCGIClient {
        let client = try FastCGIClient(installation.directory.file("fastcgi.sock"))
        try client.send(
            FastCGIClient.beginRequest(keep: false)
                + FastCGIClient.stream(
                    FastCGIClient.RecordType.parameters,
                    FastCGIClient.encode(
                        [("CONTENT_TYPE", "application/octet-stream"), ("HTTP_AUTHORIZATION", "Bearer \(key)")]
                            + FastCGIClient.parameters("PUT", "/v1/ingest/attachment/\(id)", length: bytes.count)
                            .filter { $0.0 != "CONTENT_TYPE" })))
        return client
    }

    func upload(_ id: String, _ bytes: [UInt8]) throws -> Int? {
        let client = try beginUpload(id, bytes)
        try client.send(FastCGIClient.stream(FastCGIClient.RecordType.standardInput, bytes))
        return try client.receiveAnswer()?.status
    }

    // MARK: Looking

    func stagedSizes() throws -> [Int] {
        let folder = installation.directory.file("attachments/new")
        return try FileManager.default.contentsOfDirectory(atPath: folder).map { size(of: "\(folder)/\($0)") ?? 0 }
    }

    func isStored(_ bytes: [UInt8]) -> Bool { fileSize(sha256(bytes).hexadecimal) == bytes.count }

    /// Nil: there is no such file.
    func fileSize(_ digest: String) -> Int? {
        size(of: installation.directory.file("attachments/\(digest.prefix(2))/\(digest)"))
    }

    private func size(of path: String) -> Int? {
        try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
    }

    /// Whether a transaction waits for another one's lock.
    var hasLockWait: Bool {
        get throws { try installation.database.hasLockWait(installation.database.connect()) }
    }

    func expectNoRowWithoutItsBytes(uploaded: Int, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let rows = try installation.database.connect().all(
            "SELECT sha256, size_bytes FROM event_attachments WHERE uploaded_at IS NOT NULL"
        ) { row in (digest: try row.read(String.self), size: try row.read(Int.self)) }
        #expect(rows.count == uploaded, sourceLocation: sourceLocation)
        for row in rows {
            let path = installation.directory.file("attachments/\(row.digest.prefix(2))/\(row.digest)")
            let content = FileManager.default.contents(atPath: path).map { Array($0) }
            #expect(content.map { sha256($0).hexadecimal } == row.digest, sourceLocation: sourceLocation)
            #expect(content?.count == row.size, sourceLocation: sourceLocation)
        }
    }
}
