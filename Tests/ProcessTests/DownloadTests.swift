import Fetch
import Foundation
import JSON
import OpenSSL
import TestSupport
import Testing
import Text

/// Downloads: nginx sends the attachments that the server allows (analytics §11.3).
@Suite struct DownloadTests {
    private let front: Front
    private let scene: AttachmentScene
    private let server: ChildProcess
    /// More than a connection's buffers hold, so the sender must wait for a client that reads nothing.
    private let bytes: [UInt8] = {
        let block = (0..<100_003).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) }
        var bytes: [UInt8] = []
        for _ in 0..<200 { bytes += block }
        return bytes
    }()

    init() throws {
        front = try Front()
        scene = try AttachmentScene(behind: front)
        server = try scene.installation.readyServer()
    }

    private var digest: String { sha256(bytes).hexadecimal }

    @Test func aFileComesAsTheServerSays() throws {
        let link = try upload()
        let answer = try front.connect().ask("GET", link)
        #expect(answer.status == 200 && answer.body == bytes)
        #expect(answer.header("content-type") == "text/plain")
        #expect(answer.header("content-disposition") == #"attachment; filename="f"; filename*=UTF-8''f"#)
        #expect(answer.headers.filter { $0.name == "cache-control" }.map(\.value) == ["private, no-store"])
        #expect(answer.headers.filter { $0.name == "x-content-type-options" }.map(\.value) == ["nosniff"])
        #expect(answer.header("referrer-policy") == "no-referrer" && answer.header("x-accel-redirect") == nil)
        #expect(
            answer.header("x-request-id")?.count == 32
                && answer.header("x-logi-request-id") == answer.header("x-request-id"))
        #expect(try front.connect().ask("GET", link + "0").status == 401)
    }

    @Test func partsOfAFileAreSent() throws {
        let link = try upload()
        let connection = try front.connect()
        let part = try connection.ask("GET", link, headers: [("Range", "bytes=\(bytes.count - 10)-")])
        #expect(part.status == 206 && part.body == Array(bytes.suffix(10)))
        #expect(part.header("content-range") == "bytes \(bytes.count - 10)-\(bytes.count - 1)/\(bytes.count)")
        #expect(part.header("content-disposition")?.hasPrefix("attachment") == true)
        for (field, status, reason) in [
            (("Range", "bytes=\(bytes.count)-"), 416, "Range Not Satisfiable"),
            (("If-Match", "\"x\""), 412, "Precondition Failed"),
        ] {
            let refused = try front.connect().ask("GET", link, headers: [field])
            #expect(refused.status == status)
            #expect(text(refused) == #"{"statusCode":\#(status),"error":"\#(reason)","message":"Invalid request"}"#)
            #expect(refused.header("content-type") == "application/json; charset=utf-8")
            #expect(refused.header("cache-control")?.contains("no-store") == true)
            for name in ["x-request-id", "x-logi-request-id", "x-content-type-options", "referrer-policy"] {
                #expect(refused.headers.filter { $0.name == name }.count == 1, "\(status) \(name)")
            }
        }
    }

    /// nginx has no folder for temporary files, so a download that needed one would be truncated. There are more
    /// readers than workers.
    @Test func slowReadersNeedNeitherWorkersNorTemporaryFiles() throws {
        let link = try upload()
        try FileManager.default.removeItem(atPath: front.run.file("nginx/fastcgi"))
        let slow = try (0..<8).map { _ in
            let connection = try front.connect()
            try connection.send(Array("GET \(link) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
            return connection
        }
        for connection in slow { #expect(connection.hasInput(within: .seconds(20))) }
        #expect(try front.get("/api/v1/me").status == 401)
        for connection in slow { #expect(try connection.receiveAnswer().body == bytes) }
    }

    // MARK: What is not there

    /// The file was removed after the server allowed it: nginx has another folder.
    @Test func aFileThatWentMeanwhileIsNotFound() throws {
        let link = try upload()
        try FileManager.default.removeItem(atPath: front.run.file("attachments"))
        let answer = try front.connect().ask("GET", link)
        #expect(answer.status == 404 && text(answer) == #"{"error":"Attachment not found"}"#)
        #expect(answer.header("content-type") == "application/json; charset=utf-8")
        let caching = answer.headers.filter { $0.name == "cache-control" }
        #expect(!caching.isEmpty && caching.allSatisfy { $0.value.contains("no-store") })
        #expect(answer.header("x-request-id")?.count == 32 && answer.header("x-content-type-options") == "nosniff")
    }

    @Test func aLinkInTheFolderLeadsNowhere() throws {
        let link = try upload()
        let name = "\(digest.prefix(2))/\(digest)"
        // The server sees the file; nginx sees a link to it.
        try FileManager.default.removeItem(atPath: front.run.file("attachments"))
        try front.run.makeDirectory("attachments/\(digest.prefix(2))")
        try front.run.link("attachments/\(name)", to: scene.installation.directory.file("attachments/\(name)"))
        let answer = try front.connect().ask("GET", link)
        #expect(answer.status == 500)
        #expect(
            text(answer)
                == #"{"statusCode":500,"error":"Internal Server Error","message":"Internal Server Error"}"#)
    }

    @Test func nobodyElseLeadsToTheFiles() throws {
        _ = try upload()
        try front.run.write("precious", to: "nginx/secret")
        let file = "\(digest.prefix(2))/\(digest)"
        for path in [
            "/-/attachments/\(file)", "/-/attachments/\(file)?x", "//-//attachments//\(file)",
            "/%2D/attachments/\(file)",
            "/x/../-/attachments/\(file)", "/-/attachments/\(digest.prefix(2))%2F\(digest)",
            "/-/attachments/../nginx/secret",
            "/-/attachments/%2e%2e/nginx/secret", "/-/attachments/..%2fnginx%2fsecret", "/-/attachments/",
            "/-/attachments/new", "/-/attachments/\(file)/../../../nginx/secret", "/-/attachments/\(file)%00",
            "/-/upload",
        ] {
            for method in ["GET", "POST"] {
                let answer = try front.connect().ask(method, path)
                #expect([400, 404].contains(answer.status), "\(method) \(path)")
                #expect(answer.body.count < 200, "\(method) \(path)")
            }
        }
    }

    // MARK: Limits

    @Test func downloadsAreLimitedInNumber() throws {
        let front = try Front(.production) {
            $0.replacing("limit_conn merganser_downloads 16", with: "limit_conn merganser_downloads 2")
        }
        let scene = try AttachmentScene(behind: front)
        let server = try scene.installation.readyServer()
        defer { withExtendedLifetime((front, server)) {} }
        let link = try upload(scene, front)
        let open = try (0..<2).map { _ in try hold(link, at: front) }
        let refused = try front.connect().ask("GET", link, headers: [("X-Forwarded-For", "192.0.2.1")])
        #expect(refused.status == 429 && text(refused) == #"{"error":"Rate limit exceeded"}"#)
        #expect(try front.connect().ask("GET", link, headers: [("X-Forwarded-For", "192.0.2.7")]).body == bytes)
        for connection in open { #expect(try connection.receiveAnswer().body == bytes) }
    }

    /// Each of them may fill a temporary file of nginx, so all clients are counted together.
    @Test func downloadsThatTheServerSendsAreLimitedTogether() throws {
        let front = try Front(.production) {
            $0.replacing(/(merganser_attachment_sender \{\s+default) nginx/) { "\($0.1) worker" }
                .replacing("limit_conn merganser_copies 32", with: "limit_conn merganser_copies 2")
        }
        let scene = try AttachmentScene(behind: front, ["MERGANSER_ATTACHMENT_SENDER": "worker"])
        let server = try scene.installation.readyServer()
        defer { withExtendedLifetime((front, server)) {} }
        let link = try upload(scene, front)
        let open = try (0..<2).map { try hold(link, at: front, from: "192.0.2.\($0)") }
        let refused = try front.connect().ask("GET", link, headers: [("X-Forwarded-For", "192.0.2.7")])
        #expect(refused.status == 429 && refused.header("retry-after") == "1")
        for connection in open { #expect(try connection.receiveAnswer().body == bytes) }
    }

    // MARK: -

    private func text(_ answer: HTTPConnection.Answer) -> String { String(decoding: answer.body, as: UTF8.self) }

    private func upload() throws -> String { try upload(scene, front) }

    /// - Returns: path and query of the download link.
    private func upload(_ scene: AttachmentScene, _ front: Front) throws -> String {
        let id = try scene.reserve(bytes)
        let answer = try front.connect().ask(
            "PUT", "/v1/ingest/attachment/\(id)", headers: scene.uploadHeaders, body: bytes)
        let link = try #require(try JSONValue(json: answer.body)["download_url"]?.string)
        return String(try #require(link.split(separator: "8080", maxSplits: 1).last))
    }

    /// A download under way. The client has read nothing yet.
    private func hold(_ link: String, at front: Front, from address: String = "192.0.2.1") throws -> HTTPConnection {
        let connection = try front.connect()
        try connection.send(
            Array("GET \(link) HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: \(address)\r\n\r\n".utf8))
        #expect(connection.hasInput(within: .seconds(20)))
        return connection
    }
}
