import Analytics
import Database
import Foundation
import HTTP
import OpenSSL
import TestSupport
import Testing
import Text
import Threads

/// Analytics §11.2 over the wire.
@Suite struct AttachmentUploadTests {
    let app: TestApp
    let scene: AnalyticsScene
    let client: Client
    let bytes = Array("hello".utf8)

    init() throws {
        app = try TestApp(workers: 4)
        scene = try AnalyticsScene(app)
        client = app.client()
        try scene.store.prepare()
    }

    @Test func anUploadIsStoredUnderItsDigest() throws {
        let id = try scene.reserve(client, bytes)
        let answer = scene.upload(client, id, bytes, token: scene.importKey)
        let token = DownloadLinks(secret: Array(repeating: 9, count: 32)).token(
            for: try #require(Attachment.ID(id)), at: app.time.now)
        let digest = sha256(bytes).hexadecimal
        #expect(
            "\(answer)"
                == #"200 {"attachment_id":"\#(id)","size_bytes":5,"sha256":"\#(digest)","download_url":"https://id.example/v1/attachments/download?t=\#(token.text)","download_url_expires_at":"2026-05-12T07:01:00.000Z"}"#
        )
        #expect(try scene.storedFiles() == [digest])
        #expect(app.attachments.text("\(digest.prefix(2))/\(digest)") == "hello")
        #expect(try scene.stagedFiles() == 0)
        #expect(try isUploaded(id))
    }

    @Test func theChecksBeforeTheBodyAreInOrder() throws {
        let id = try scene.reserve(client, bytes)
        let unread = ScriptedBody(length: 5) { _ in [] }
        func put(_ id: String, contentType: String? = "text/plain", token: String? = nil) -> String {
            "\(scene.upload(client, id, body: unread, contentType: contentType, token: token))"
        }
        let agent = try scene.makeKey(.agent, permissions: [.eventsWrite])
        #expect(put("no", token: "owl_client_x") == refusal(401, "Invalid API key"))
        #expect(
            put("no", token: try scene.makeKey(.client, permissions: []))
                == refusal(403, "Missing permission: events:write"))
        #expect(put("no", token: agent) == refusal(400, "API key must be scoped to an app"))
        #expect(put("no") == refusal(404, "Attachment not found"))
        #expect(put(uuid(1)) == refusal(404, "Attachment not found"))
        try app.change("UPDATE event_attachments SET deleted_at = created_at, uploaded_at = created_at")
        #expect(
            put(id, token: try scene.makeApp().clientKey) == refusal(403, "Attachment belongs to a different app"))
        #expect(put(id) == refusal(410, "Attachment has been deleted"))
        try app.change("UPDATE event_attachments SET deleted_at = NULL")
        #expect(put(id) == rejection(409, "already_uploaded", "Attachment has already been uploaded"))
        try app.change("UPDATE event_attachments SET uploaded_at = NULL")
        for type in ["text/plain", "application/octet-stream2", "", nil] {
            #expect(
                put(id, contentType: type)
                    == refusal(400, "Request body must be sent with Content-Type: application/octet-stream"))
        }
        #expect(unread.reads == 0)
        #expect(
            scene.upload(
                client, id, body: BufferedBody(bytes), contentType: "Application/Octet-Stream; charset=binary"
            ).status == 200)
    }

    /// The announced bytes, the sent bytes, and the answer.
    @Test(
        arguments: [
            (6, "hello!", rejection(413, "size_mismatch", "Upload exceeded declared size")),
            (nil, "hello!", rejection(413, "size_mismatch", "Upload exceeded declared size")),
            (4, "hell", rejection(400, "size_mismatch", "Uploaded size 4 does not match declared 5")),
            (nil, "", rejection(400, "size_mismatch", "Uploaded size 0 does not match declared 5")),
            (5, "HELLO", rejection(400, "hash_mismatch", "Uploaded bytes do not match declared sha256")),
        ] as [(Int?, String, String)])
    func otherBytesThanDeclaredRemoveTheReservation(length: Int?, content: String, expected: String) throws {
        let id = try scene.reserve(client, bytes)
        let body = ScriptedBody(length: length) { $0 == 0 ? Array(content.utf8) : [] }
        #expect("\(scene.upload(client, id, body: body))" == expected)
        #expect(try scene.reservations() == 0)
        #expect(try scene.stagedFiles() == 0 && scene.storedFiles().isEmpty)
        // If the announced length is wrong, nothing is read.
        #expect(body.reads == (length == 6 ? 0 : content.isEmpty || content.count == 6 ? 1 : 2))
        #expect("\(scene.upload(client, id, bytes))" == refusal(404, "Attachment not found"))
    }

    @Test func bytesBeyondTheDeclaredSizeAreNotRead() throws {
        let id = try scene.reserve(client, bytes)
        let endless = ScriptedBody { _ in Array(repeating: 0, count: 65_536) }
        #expect(scene.upload(client, id, body: endless).status == 413)
        #expect(endless.reads == 1)
    }

    @Test func whoGoesAwayKeepsTheReservation() throws {
        let id = try scene.reserve(client, bytes)
        let cut = ScriptedBody(length: 5) { read throws(BodyError) in
            if read == 0 { return Array("hel".utf8) }
            throw .incomplete
        }
        _ = scene.upload(client, id, body: cut)
        #expect(try scene.stagedFiles() == 0 && scene.storedFiles().isEmpty && !isUploaded(id))
        #expect(scene.upload(client, id, bytes).status == 200)
        #expect(!app.log.lines.contains { $0.hasPrefix("error") })
    }

    /// A store that fails, either when the file is created or when it is renamed.
    @Test(arguments: [true, false]) func aFailingStoreKeepsTheReservation(isAtTheStart: Bool) throws {
        let id = try scene.reserve(client, bytes)
        let folder = app.attachments.file(isAtTheStart ? "new" : String(sha256(bytes).hexadecimal.prefix(2)))
        try FileManager.default.removeItem(atPath: folder)
        #expect("\(scene.upload(client, id, bytes))" == refusal(500, "Upload failed"))
        #expect(
            app.log.lines.contains {
                $0.hasPrefix("error the attachment could not be stored") && $0.contains(folder)
            })
        #expect(try !isUploaded(id))
        try scene.store.prepare()
        #expect(try scene.stagedFiles() == 0)
        #expect(scene.upload(client, id, bytes).status == 200)
    }

    /// The connection is lost during COMMIT. The row may or may not name the file, so the file must exist.
    @Test func aLostCommitLeavesNoRowWithoutItsBytes() throws {
        let database = try TestDatabase()
        let proxy = try DatabaseProxy(to: MariaDBServer.sharedSocket)
        let app = try TestApp(database: database, options: proxy.options(for: database.options))
        let scene = try AnalyticsScene(app)
        try scene.store.prepare()
        for (cut, again) in [(DatabaseProxy.Cut.beforeAnswer, 409), (.beforeServer, 200)] {
            let client = app.client()
            let id = try scene.reserve(client, bytes)
            proxy.cut(cut)
            #expect(
                "\(scene.upload(client, id, bytes))" == refusal(503, "Service temporarily unavailable"))
            #expect(try scene.storedFiles() == [sha256(bytes).hexadecimal])
            #expect(scene.upload(client, id, bytes).status == again)
        }
        #expect(proxy.cutsMade == 2)
    }

    // MARK: Several at once

    @Test func ofTwoUploadsOfOneReservationOneIsStored() throws {
        let id = try scene.reserve(client, bytes)
        let (scene, bytes) = (scene, bytes)
        // Both requests have passed the checks when the first byte is read.
        let reading = Monitor(0)
        let answers = app.atOnce(2) { client, _ in
            let body = ScriptedBody(length: 5) { read in
                if read > 0 { return [] }
                reading.change { $0 += 1 }
                #expect(reading.wait(atMost: .seconds(20)) { $0 == 2 ? true : nil } == true)
                return bytes
            }
            return "\(scene.upload(client, id, body: body))"
        }
        #expect(answers.filter { $0.hasPrefix("200 ") }.count == 1)
        #expect(
            answers.contains(rejection(409, "already_uploaded", "Attachment has already been uploaded")))
        #expect(try scene.stagedFiles() == 0 && scene.storedFiles().count == 1 && isUploaded(id))
    }

    @Test func aBadUploadDoesNotRemoveWhatAGoodOneStoredMeanwhile() throws {
        let id = try scene.reserve(client, bytes)
        let (scene, bytes) = (scene, bytes)
        let other = app.client()
        let body = ScriptedBody { read in
            if read == 0 { #expect(scene.upload(other, id, bytes).status == 200) }
            return Array("hello!".utf8)
        }
        #expect(scene.upload(client, id, body: body).status == 413)
        #expect(try isUploaded(id))
    }

    @Test func anUploadOfWhatWasDeletedMeanwhileIsRefused() throws {
        let id = try scene.reserve(client, bytes)
        let (scene, bytes) = (scene, bytes)
        let other = app.client()
        let body = ScriptedBody { read in
            if read > 0 { return [] }
            let path = "/v1/attachments/\(id)"
            #expect(other.send(.delete, path, token: scene.clientKey).status == 200)
            return bytes
        }
        #expect("\(scene.upload(client, id, body: body))" == refusal(410, "Attachment has been deleted"))
        #expect(try scene.storedFiles().isEmpty)
    }

    @Test func equalContentsAreStoredOnce() throws {
        let app = try TestApp(workers: 8)
        let (scene, client) = (try AnalyticsScene(app), app.client())
        try scene.store.prepare()
        let bytes = bytes
        let ids = try (0..<12).map { _ in try scene.reserve(client, bytes) }
        // Each thread sends one request at a time. The gate lets no more than three of one app pass.
        let answers = app.atOnce(3) { client, thread in
            (0..<4).map { scene.upload(client, ids[thread * 4 + $0], bytes).status }
        }
        #expect(answers == Array(repeating: Array(repeating: 200, count: 4), count: 3))
        #expect(try scene.storedFiles() == [sha256(bytes).hexadecimal])
        #expect(try scene.stagedFiles() == 0)
        #expect(try app.count("SELECT COUNT(*) FROM event_attachments WHERE uploaded_at IS NOT NULL") == 12)
        #expect(try app.count("SELECT COUNT(*) FROM attachment_locks") == 0)
        #expect(app.statistics.exhaustions.value == 0)
    }

    /// With four workers, three may wait for uploads, two of them for one app.
    @Test func uploadsLeaveWorkersFree() throws {
        let (app, scene, bytes) = (app, scene, bytes)
        let other = try scene.makeApp().clientKey
        let keys = [scene.clientKey, scene.clientKey, other]
        let networks = (1...3).map { "192.0.2.\($0)" }
        let ids = try keys.map { try scene.reserve(client, bytes, token: $0) }
        let waiting = Monitor((readers: 0, isOver: false))
        func wait(_ number: Int) -> Threads.Thread {
            let thread = Thread {
                let body = ScriptedBody(length: 5) { read in
                    if read > 0 { return [] }
                    waiting.change { $0.readers += 1 }
                    #expect(waiting.wait(atMost: .seconds(20)) { $0.isOver ? true : nil } == true)
                    return bytes
                }
                let status = scene.upload(
                    app.client(), ids[number], body: body, token: keys[number], from: networks[number]
                ).status
                if status != 200 { Issue.record("upload \(number): \(status)") }
            }
            #expect(waiting.wait(atMost: .seconds(20)) { $0.readers == number + 1 ? true : nil } == true)
            return thread
        }
        func expectRefusal(_ token: String, from network: String) throws {
            let id = try scene.reserve(client, bytes, token: token)
            let unread = ScriptedBody(length: 5) { _ in [] }
            let refused = scene.upload(client, id, body: unread, token: token, from: network)
            #expect("\(refused)" == refusal(503, "Service temporarily unavailable"))
            #expect(refused.header("Retry-After") == "1" && unread.reads == 0)
        }
        var slow = [wait(0), wait(1)]
        try expectRefusal(scene.clientKey, from: "192.0.2.9")
        slow.append(wait(2))
        try expectRefusal(try scene.makeApp().clientKey, from: "192.0.2.9")
        #expect(client.send(scene.reservation(of: bytes)).status == 201)
        waiting.change { $0.isOver = true }
        slow.forEach { $0.join() }
        let id = try scene.reserve(client, bytes)
        #expect(scene.upload(client, id, bytes).status == 200)
    }

    @Test func anUploadThatIsTooSlowKeepsItsReservation() throws {
        let id = try scene.reserve(client, bytes)
        let slow = ScriptedBody(length: 5) { read throws(BodyError) in
            if read == 0 { return Array("hel".utf8) }
            throw .tooSlow
        }
        #expect(
            "\(scene.upload(client, id, body: slow))"
                == rejection(408, "upload_too_slow", "Upload was slower than 8192 bytes per second"))
        #expect(try scene.stagedFiles() == 0 && scene.storedFiles().isEmpty && !isUploaded(id))
        #expect(scene.upload(client, id, bytes).status == 200)
    }

    private func isUploaded(_ id: String) throws -> Bool {
        try app.count("SELECT COUNT(*) FROM event_attachments WHERE id = ? AND uploaded_at IS NOT NULL", UUID(id))
            == 1
    }
}
