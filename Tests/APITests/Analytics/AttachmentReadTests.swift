import API
import Analytics
import Foundation
import HTTP
import JSON
import MariaDB
import OpenSSL
import TestSupport
import Testing
import Text

/// Analytics §11.3 over the wire.
@Suite struct AttachmentReadTests {
    let app: TestApp
    let scene: AnalyticsScene
    let client: Client

    init() throws {
        app = try TestApp()
        scene = try AnalyticsScene(app)
        client = app.client()
        try scene.store.prepare()
    }

    private func get(_ path: String, token: String? = nil) -> Answer {
        client.send(.get, path, token: token ?? scene.agentKey)
    }

    private func ids(_ query: String, token: String? = nil) -> [String] {
        get("/v1/attachments\(query)", token: token)["attachments"]?.array?.compactMap { $0["id"]?.string } ?? []
    }

    @Test func anAttachmentIsShownWholeOnceUploaded() throws {
        let bytes = Array("hello".utf8)
        let id = try scene.reserve(client, bytes, ["is_dev": true])
        let shown = #"""
            {"id":"\#(id)","project_id":"\#(scene.project)","app_id":"\#(scene.appID)","event_client_id":"\#(uuid(1).lowercased())","event_id":null,"issue_id":null,"user_id":"u","original_filename":"a.txt","content_type":"text/plain","size_bytes":5,"sha256":"\#(sha256(bytes).hexadecimal)","is_dev":true,"uploaded_at":null,"created_at":"2026-05-12T07:00:00.000Z"}
            """#
        #expect("\(get("/v1/attachments/\(id)"))" == "200 \(shown)")
        #expect("\(get("/v1/attachments"))" == #"200 {"attachments":[\#(shown)],"cursor":null,"has_more":false}"#)
        app.time.advance(by: .milliseconds(1500))
        #expect(scene.upload(client, id, bytes).status == 200)
        let answer = get("/v1/attachments/\(id)")
        #expect(answer["uploaded_at"] == "2026-05-12T07:00:01.500Z")
        let download = try #require(answer["download_url"])
        #expect(
            download["expires_at"] == "2026-05-12T07:01:01.000Z" && download["original_filename"] == "a.txt"
                && download["content_type"] == "text/plain" && download["size_bytes"] == 5)
        #expect(try get(try #require(link(in: answer))).content() == bytes)
    }

    @Test func listsHavePagesThatNeitherRepeatNorSkip() throws {
        var expected: [String] = []
        for number in 0..<7 {
            // Pairs of attachments have the same time.
            if number.isMultiple(of: 2) { app.time.advance(by: .seconds(1)) }
            expected.append(try scene.reserve(client, [UInt8(number)], ["client_event_id": .string(uuid(number))]))
        }
        var seen: [String] = []
        var cursor: String?
        repeat {
            let answer = get("/v1/attachments?limit=2" + (cursor.map { "&cursor=\($0)" } ?? ""))
            let page = answer["attachments"]?.array ?? []
            seen += page.compactMap { $0["id"]?.string }
            cursor = answer["cursor"]?.string
            #expect(page.count == (cursor == nil ? 1 : 2) && answer["has_more"] == .bool(cursor != nil))
        } while cursor != nil
        #expect(seen.count == 7 && Set(seen) == Set(expected))
        let times = try app.column(
            "SELECT CAST(created_at AS CHAR) FROM event_attachments ORDER BY created_at DESC, id DESC")
        #expect(
            try seen.map {
                try app.column("SELECT CAST(created_at AS CHAR) FROM event_attachments WHERE id = ?", UUID($0))[0]
            } == times)
        #expect(ids("?cursor=nonsense") == seen)
    }

    @Test func filtersSelect() throws {
        #expect(client.send(scene.properties("u", ["a": "b"])).status == 200)
        let event = try scene.insertEvent(uuid(1), user: "u")
        let first = try scene.reserve(client, [1])
        let second = try scene.reserve(client, [2], ["client_event_id": .string(uuid(2))])
        let issue = UUID(at: app.time.now)
        try app.change("UPDATE event_attachments SET issue_id = ? WHERE id = ?", issue, UUID(second))
        #expect(ids("?event_id=\(event)") == [first])
        #expect(ids("?event_client_id=\(uuid(2))") == [second])
        #expect(ids("?issue_id=\(issue.description.uppercased())") == [second])
        #expect(Set(ids("?project_id=\(scene.project)")) == [first, second])
        for filter in ["event_id", "event_client_id", "issue_id", "project_id"] {
            #expect(ids("?\(filter)=\(uuid(77))").isEmpty)
            #expect(
                "\(get("/v1/attachments?\(filter)=x"))" == #"200 {"attachments":[],"cursor":null,"has_more":false}"#)
        }
    }

    @Test func readsSeeTheirTeamsLiveAppsOnly() throws {
        let id = try scene.attach(client, [1])
        let stranger = try AnalyticsScene(app)
        let path = "/v1/attachments/\(id)"
        let missing = refusal(404, "Attachment not found")
        #expect(ids("", token: stranger.agentKey).isEmpty)
        #expect("\(get(path, token: stranger.agentKey))" == missing)
        #expect("\(get("/v1/attachments/\(uuid(5))"))" == missing)
        #expect("\(get("/v1/attachments/x"))" == missing)
        #expect("\(get(path, token: scene.clientKey))" == refusal(403, "Missing permission: events:read"))
        for table in ["apps", "projects"] {
            try app.sql { try $0.executeScript("UPDATE \(table) SET deleted_at = created_at") }
            #expect(ids("").isEmpty)
            #expect("\(get(path))" == missing)
            try app.sql { try $0.executeScript("UPDATE \(table) SET deleted_at = NULL") }
        }
        #expect(ids("") == [id])
    }

    // MARK: Downloads

    @Test func aDownloadIsTheFileAndNothingToRun() throws {
        let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let id = try scene.attach(
            client, bytes, ["original_filename": "Ü \"x\"\r\n.html", "content_type": "text/html; charset=utf-8"])
        let answer = get(try #require(link(in: get("/v1/attachments/\(id)"))), token: "")
        #expect(answer.status == 200)
        #expect(try answer.content() == bytes)
        #expect(answer.response.length == 200_000 && answer.response.body.isEmpty)
        #expect(answer.header("Content-Type") == "text/html; charset=utf-8")
        #expect(
            answer.header("Content-Disposition")
                == #"attachment; filename="_ _x___.html"; filename*=UTF-8''%C3%9C%20%22x%22%0D%0A.html"#)
        #expect(answer.header("X-Content-Type-Options") == "nosniff")
        #expect(answer.response.headers.filter { $0.name == "Cache-Control" }.map(\.value) == ["private, no-store"])
    }

    @Test func nginxIsToldWhichFileToSend() throws {
        let app = try TestApp(front: { $0.sendsDownloads = true })
        let (scene, client) = (try AnalyticsScene(app), app.client())
        try scene.store.prepare()
        let id = try scene.attach(client, [1, 2, 3], ["original_filename": "a/../b", "content_type": "text/html"])
        let path = try #require(link(in: client.send(.get, "/v1/attachments/\(id)", token: scene.agentKey)))
        let digest = sha256([1, 2, 3]).hexadecimal
        let answer = client.send(.get, path)
        #expect(answer.status == 200 && answer.response.length == 0)
        #expect(answer.header("X-Accel-Redirect") == "/-/attachments/\(digest.prefix(2))/\(digest)")
        #expect(answer.header("Content-Type") == "text/html")
        #expect(answer.header("Content-Disposition")?.hasPrefix(#"attachment; filename="a_.._b""#) == true)
        #expect(answer.header("Cache-Control") == "private, no-store")
        #expect(try scene.store.remove(try #require(ContentDigest(rawValue: digest))))
        #expect(client.send(.get, path).status == 500)
        #expect(app.log.lines.contains { $0.contains("the file \(digest), which does not exist") })
        app.time.advance(by: .seconds(60))
        #expect("\(client.send(.get, path))" == refusal(401, "Invalid or expired download link"))
    }

    @Test func aLinkThatIsBadOrExpiredOpensNothing() throws {
        let id = try scene.attach(client, [1])
        let path = try #require(link(in: get("/v1/attachments/\(id)")))
        let token = String(path.split(separator: "=")[1])
        let parts = token.split(separator: ".").map(String.init)
        let refused = refusal(401, "Invalid or expired download link")
        let expiry = try #require(Int(parts[1]))
        let bad = [
            "", "x", "..", "\(parts[0]).\(parts[1])", token + "0", token + ".", String(token.dropLast()),
            "\(parts[0]).\(expiry + 1).\(parts[2])", "\(uuid(3).lowercased()).\(parts[1]).\(parts[2])",
            "\(parts[0]).\(parts[1]).\(parts[2].uppercased())", token.uppercased(),
        ]
        for token in bad where token != path {
            #expect("\(get("/v1/attachments/download?t=\(token)"))" == refused, "\(token)")
        }
        #expect("\(get("/v1/attachments/download"))" == refused)
        #expect(get(path).header("WWW-Authenticate") == nil)
        app.time.advance(by: .milliseconds(59_999))
        #expect(get(path).status == 200)
        app.time.advance(by: .milliseconds(1))
        #expect("\(get(path))" == refused)
    }

    @Test func whatIsGoneOrNotThereYetIsNotFound() throws {
        let id = try scene.reserve(client, [1])
        let token = DownloadLinks(secret: Array(repeating: 9, count: 32)).token(
            for: try #require(Attachment.ID(id)), at: app.time.now)
        let path = "/v1/attachments/download?t=\(token.text)"
        let missing = refusal(404, "Attachment not found")
        #expect("\(get(path))" == missing)
        #expect(scene.upload(client, id, [1]).status == 200)
        #expect(get(path).status == 200)
        try app.change("UPDATE event_attachments SET deleted_at = created_at")
        #expect("\(get(path))" == missing)
        try app.change("DELETE FROM event_attachments")
        #expect("\(get(path))" == missing)
    }

    @Test func aLostFileIsAFaultOfTheServer() throws {
        let id = try scene.attach(client, [1])
        let path = try #require(link(in: get("/v1/attachments/\(id)")))
        let digest = try #require(ContentDigest(rawValue: sha256([1]).hexadecimal))
        #expect(try scene.store.remove(digest))
        #expect(get(path).status == 500)
        #expect(app.log.lines.contains { $0.contains("the file \(digest.rawValue), which does not exist") })
    }

    @Test func noSecretAndNothingOfTheFileIsLogged() throws {
        let bytes = Array("content-of-the-file".utf8)
        let id = try scene.attach(
            client, bytes, ["original_filename": "name-of-the-file", "user_id": "name-of-the-user"])
        let path = try #require(link(in: get("/v1/attachments/\(id)")))
        #expect(get(path).status == 200)
        #expect(get(path + "0").status == 401)
        let wrong = try scene.reserve(client, bytes)
        #expect(scene.upload(client, wrong, Array("other-content".utf8)).status == 400)
        let log = app.log.lines.joined(separator: "\n")
        let signature = try #require(path.split(separator: ".").last)
        for secret in [
            scene.clientKey, scene.agentKey, String(signature), "of-the-file", "of-the-user", "other-content",
        ] {
            #expect(!log.contains(secret), "\(secret)")
        }
    }

    /// The path and query of the download link in an answer.
    private func link(in answer: Answer) -> String? {
        answer["download_url"]?["url"]?.string.map { String($0.dropFirst("https://id.example".count)) }
    }

    // MARK: Deletion and usage

    @Test func deletionIsForKeysOfTheProject() throws {
        let id = try scene.attach(client, [1])
        let path = "/v1/attachments/\(id)"
        let missing = refusal(404, "Attachment not found")
        let stranger = try AnalyticsScene(app, team: scene.team)
        let agent = try scene.makeKey(.agent, permissions: [.eventsWrite])
        for token in [stranger.clientKey, agent] {
            #expect("\(client.send(.delete, path, token: token))" == missing)
        }
        #expect("\(client.send(.delete, "/v1/attachments/x", token: scene.clientKey))" == missing)
        #expect(
            "\(client.send(.delete, path, token: scene.agentKey))" == refusal(403, "Missing permission: events:write"))
        let colleague = try scene.makeApp()
        #expect("\(client.send(.delete, path, token: colleague.clientKey))" == #"200 {"ok":true}"#)
        #expect("\(client.send(.delete, path, token: scene.clientKey))" == missing)
        #expect("\(get(path))" == missing)
        #expect(ids("").isEmpty)
        #expect(try scene.storedFiles().count == 1)
    }

    @Test func usageTellsTheProjectsAndOneUsersShare() throws {
        let path = "/v1/projects/\(scene.project)/attachment-usage"
        #expect(
            "\(get(path))"
                == #"200 {"project_id":"\#(scene.project)","used_bytes":0,"quota_bytes":5368709120,"user_quota_bytes":262144000,"file_count":0}"#
        )
        try scene.attach(client, [1, 2], ["user_id": "owl_anon_a"])
        _ = try scene.reserve(client, [1, 2, 3])
        _ = try scene.reserve(client, [1], ["user_id": nil])
        // A deleted attachment counts until clean-up removes it.
        let deleted = try scene.attach(client, [1])
        #expect(client.send(.delete, "/v1/attachments/\(deleted)", token: scene.clientKey).status == 200)
        try app.change("UPDATE projects SET attachment_user_quota_bytes = 7, attachment_project_quota_bytes = 8")
        let whole =
            #""project_id":"\#(scene.project)","used_bytes":7,"quota_bytes":8,"user_quota_bytes":7,"file_count":4"#
        #expect("\(get(path))" == "200 {\(whole)}")
        #expect(
            "\(get(path + "?user_id=owl_anon_a"))"
                == #"200 {\#(whole),"user_id":"owl_anon_a","user_used_bytes":2,"user_file_count":1}"#)
        #expect(client.send(scene.claim("owl_anon_a", "u")).status == 200)
        #expect(
            "\(get(path + "?user_id=u"))" == #"200 {\#(whole),"user_id":"u","user_used_bytes":6,"user_file_count":3}"#)
        for nobody in ["owl_anon_a", "stranger"] {
            #expect(get(path + "?user_id=\(nobody)")["user_used_bytes"] == 0)
        }
    }

    @Test func usageIsForTheTeamsLiveProjects() throws {
        let path = "/v1/projects/\(scene.project)/attachment-usage"
        let missing = refusal(404, "Project not found")
        #expect("\(get(path, token: try AnalyticsScene(app).agentKey))" == missing)
        #expect("\(get("/v1/projects/x/attachment-usage"))" == missing)
        #expect("\(get("/v1/projects/\(uuid(1))/attachment-usage"))" == missing)
        try app.change("UPDATE projects SET deleted_at = created_at WHERE id = ?", scene.project)
        #expect("\(get(path))" == missing)
    }
}
