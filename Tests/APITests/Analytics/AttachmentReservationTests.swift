import Analytics
import AnalyticsJobs
import Database
import HTTP
import JSON
import MariaDB
import TestSupport
import Testing
import Threads
import Time

/// Analytics §11.1 over the wire.
@Suite struct AttachmentReservationTests {
    let app: TestApp
    let scene: AnalyticsScene
    let client: Client
    let bytes = Array("hello".utf8)

    init() throws {
        app = try TestApp { $0.attachments.maximumSize = 1000 }
        scene = try AnalyticsScene(app)
        client = app.client()
    }

    @Test func aReservationTellsWhereToUpload() throws {
        let answer = client.send(scene.reservation(of: bytes, ["is_dev": true]))
        let id = try #require(answer["attachment_id"]?.string)
        #expect(
            "\(answer)"
                == #"201 {"attachment_id":"\#(id)","upload_url":"https://id.example/v1/ingest/attachment/\#(id)","expires_at":"2026-05-12T07:15:00.000Z"}"#
        )
        let ids = "\(hexadecimal(id)) \(hexadecimal(scene.project)) \(hexadecimal(scene.appID)) \(hexadecimal(uuid(1)))"
        #expect(
            try app.column(
                """
                SELECT CONCAT_WS(' ', HEX(t.id), HEX(t.project_id), HEX(t.app_id), HEX(t.event_client_id),
                                 IFNULL(HEX(t.event_id), '-'), u.user_id,
                                 u.is_dev, t.original_filename, t.content_type, t.size_bytes, t.is_dev,
                                 IFNULL(CAST(t.uploaded_at AS CHAR), '-'))
                FROM event_attachments t JOIN app_users u ON u.id = t.app_user_id
                """)
                == ["\(ids) - u 1 a.txt text/plain 5 1 -"])
    }

    private struct Fault {
        let member: String
        let bad: JSONValue?
        let good: JSONValue?
        let answer: String
    }

    /// At first everything is wrong. Each step corrects one fault, and the answer names the next one.
    @Test func theChecksAreInOrder() throws {
        let long = JSONValue.string(String(repeating: "😀", count: 128))
        func invalid(_ member: String, _ bad: JSONValue?, _ good: JSONValue?, _ message: String) -> Fault {
            Fault(member: member, bad: bad, good: good, answer: rejection(400, "invalid_request", message))
        }
        let faults = [
            invalid("client_event_id", "", .string(uuid(1)), "client_event_id is required"),
            invalid("user_id", long, nil, "user_id must be a non-empty string of at most 255 chars"),
            invalid(
                "original_filename", long, .string(String(repeating: "é", count: 255)),
                "original_filename is required and must be at most 255 chars"),
            invalid("content_type", nil, .string(String(repeating: "x", count: 128)), "content_type is required"),
            invalid("size_bytes", 0, 1001.0, "size_bytes must be a positive integer"),
            invalid(
                "sha256", "ABC", .string(String(repeating: "0", count: 64)),
                "sha256 must be a 64-char lowercase hex string"),
            Fault(
                member: "size_bytes", bad: 1001.0, good: 1000,
                answer: rejection(413, "file_too_large", "Attachment exceeds the maximum size of 1000 bytes")),
        ]
        var members = Dictionary(faults.map { ($0.member, $0.bad) }) { first, _ in first }
        for fault in faults {
            let body = JSONValue.object(JSONObject(members.compactMap { name, value in value.map { (name, $0) } }))
            #expect("\(client.send(scene.post("/v1/ingest/attachment", body)))" == fault.answer)
            members[fault.member] = fault.good
        }
        #expect(try scene.reservations() == 0)
        let body = JSONValue.object(JSONObject(members.compactMap { name, value in value.map { (name, $0) } }))
        #expect(client.send(scene.post("/v1/ingest/attachment", body)).status == 201)
    }

    @Test(
        arguments: [
            ("client_event_id", nil, "client_event_id is required"),
            ("client_event_id", 1, "client_event_id is required"),
            ("client_event_id", "no", "client_event_id must be a UUID"),
            ("user_id", "", "user_id must be a non-empty string of at most 255 chars"),
            ("user_id", 7, "user_id must be a non-empty string of at most 255 chars"),
            ("original_filename", nil, "original_filename is required and must be at most 255 chars"),
            ("original_filename", "", "original_filename is required and must be at most 255 chars"),
            ("original_filename", ["a"], "original_filename is required and must be at most 255 chars"),
            ("content_type", "", "content_type is required"), ("content_type", 1, "content_type is required"),
            ("content_type", .string(String(repeating: "x", count: 129)), "content_type must be at most 128 chars"),
            ("size_bytes", nil, "size_bytes must be a positive integer"),
            ("size_bytes", -1, "size_bytes must be a positive integer"),
            ("size_bytes", 1.5, "size_bytes must be a positive integer"),
            ("size_bytes", "5", "size_bytes must be a positive integer"),
            ("sha256", nil, "sha256 must be a 64-char lowercase hex string"),
            (
                "sha256", .string(String(repeating: "A", count: 64)), "sha256 must be a 64-char lowercase hex string"
            ),
            (
                "sha256", .string(String(repeating: "0", count: 63)), "sha256 must be a 64-char lowercase hex string"
            ),
        ] as [(String, JSONValue?, String)])
    func aBadMemberIsNamed(member: String, value: JSONValue?, message: String) throws {
        #expect(
            "\(client.send(scene.reservation(of: bytes, [member: value])))"
                == rejection(400, "invalid_request", message))
        #expect(try scene.reservations() == 0 && scene.records().isEmpty)
    }

    @Test(arguments: ["user_id", "original_filename", "content_type"]) func aNULIsRefused(member: String) {
        #expect(
            "\(client.send(scene.reservation(of: bytes, [member: "a\0b"])))"
                == refusal(400, "\(member) must not contain NUL characters"))
    }

    @Test(arguments: [
        "application/x-msdownload", "application/x-msdos-program", "application/x-msi", "application/x-executable",
        "application/x-mach-binary", "application/x-sharedlib", "application/vnd.microsoft.portable-executable",
        "application/x-dosexec", "application/x-shellscript", "application/x-sh", "application/x-python-code",
        "application/java-archive", "application/x-java-archive", "application/vnd.apple.installer+xml",
        "text/x-shellscript",
    ])
    func whatASystemMayRunIsDenied(type: String) {
        let message = "Content-Type \"\(type)\" is not allowed for attachments"
        for sent in [type, type.uppercased(), "\(type) ; charset=utf-8"] {
            #expect(
                "\(client.send(scene.reservation(of: bytes, ["content_type": .string(sent)])))"
                    == rejection(415, "disallowed_content_type", message))
        }
        #expect(client.send(scene.reservation(of: bytes, ["content_type": .string("x-\(type)")])).status == 201)
    }

    @Test func onlyLiveAppsReserve() throws {
        let agent = try scene.makeKey(.agent, permissions: [.eventsWrite])
        #expect(
            "\(client.send(scene.reservation(of: [], [:], token: agent)))"
                == refusal(400, "API key must be scoped to an app"))
        let reader = try scene.makeKey(.client, permissions: [.usersWrite])
        #expect(
            "\(client.send(scene.reservation(of: [], [:], token: reader)))"
                == refusal(403, "Missing permission: events:write"))
        try app.change("UPDATE projects SET deleted_at = created_at")
        #expect(
            "\(client.send(scene.reservation(of: bytes)))"
                == refusal(400, "Project associated with this API key no longer exists"))
        try app.change("UPDATE apps SET deleted_at = created_at")
        #expect(
            "\(client.send(scene.reservation(of: bytes)))"
                == refusal(400, "App associated with this API key no longer exists"))
        #expect(try scene.reservations() == 0 && scene.records().isEmpty)
    }

    @Test(arguments: [1e300, 9_300_000_000_000_000_000]) func aSizeBeyondAllIntegersIsTooLarge(size: Double) {
        #expect(
            "\(client.send(scene.reservation(of: bytes, ["size_bytes": .number(size)])))"
                == rejection(413, "file_too_large", "Attachment exceeds the maximum size of 1000 bytes"))
    }

    // MARK: Quotas

    @Test func theDefaultQuotasMayBeReachedExactly() throws {
        try app.change(
            "INSERT INTO app_users (public_id, project_id, user_id, is_anonymous, first_seen_at, last_seen_at) VALUES (RANDOM_BYTES(16), ?, 'u', 0, NOW(), NOW())",
            scene.project)
        try occupy(262_144_000 - 5, of: "u")
        let full = rejection(
            413, "user_quota_exhausted", "User attachment quota would be exceeded (262144000 + 5 > 262144000 bytes)",
            #","user_quota_bytes":262144000,"user_used_bytes":262144000"#)
        #expect(client.send(scene.reservation(of: bytes)).status == 201)
        #expect("\(client.send(scene.reservation(of: bytes)))" == full)
        // The reservation names no user, so only the project's quota counts.
        #expect(client.send(scene.reservation(of: bytes, ["user_id": nil])).status == 201)

        try occupy(5_368_709_120 - 262_144_000 - 5 - 5, of: nil)
        #expect(client.send(scene.reservation(of: bytes, ["user_id": "v"])).status == 201)
        #expect(
            "\(client.send(scene.reservation(of: bytes, ["user_id": nil])))"
                == rejection(
                    413, "quota_exhausted",
                    "Project attachment quota would be exceeded (5368709120 + 5 > 5368709120 bytes)",
                    #","quota_bytes":5368709120,"used_bytes":5368709120"#))
    }

    @Test func aProjectHasItsOwnQuotas() throws {
        try app.change("UPDATE projects SET attachment_user_quota_bytes = 9, attachment_project_quota_bytes = 14")
        try scene.store.prepare()
        let first = try scene.attach(client, bytes)
        #expect(
            "\(client.send(scene.reservation(of: bytes)))"
                == rejection(
                    413, "user_quota_exhausted", "User attachment quota would be exceeded (5 + 5 > 9 bytes)",
                    #","user_quota_bytes":9,"user_used_bytes":5"#))
        _ = try scene.reserve(client, bytes, ["user_id": "v"])
        #expect(
            "\(client.send(scene.reservation(of: bytes, ["user_id": "w"])))"
                == rejection(
                    413, "quota_exhausted", "Project attachment quota would be exceeded (10 + 5 > 14 bytes)",
                    #","quota_bytes":14,"used_bytes":10"#))
        #expect(try scene.records() == ["u", "v"])
        // A deleted attachment counts until clean-up removes it.
        #expect(client.send(.delete, "/v1/attachments/\(first)", token: scene.clientKey).status == 200)
        #expect(client.send(scene.reservation(of: bytes))["user_used_bytes"] == 5)
        #expect(client.send(scene.reservation(of: bytes, ["user_id": nil]))["used_bytes"] == 10)
        try clean(at: app.time.now + .seconds(7 * 86_400 + 1))
        #expect(client.send(scene.reservation(of: bytes)).status == 201)
    }

    private func clean(at time: Timestamp, afterlife: Duration = AttachmentCleanup.afterlife) throws {
        _ = try AttachmentCleanup(scene.store, at: time, afterlife: afterlife).run(Database(app.database.options))
    }

    /// Reserve, upload, delete, repeatedly: the files stay for a week, so they count for a week (§11.1).
    @Test func deletedFilesFillTheQuota() throws {
        try app.change("UPDATE projects SET attachment_project_quota_bytes = 20")
        try scene.store.prepare()
        var stored = 0
        for number in 0..<10 {
            let bytes = [UInt8](repeating: UInt8(number), count: 5)
            let answer = client.send(scene.reservation(of: bytes, ["user_id": .string("u\(number)")]))
            guard let id = answer["attachment_id"]?.string else {
                #expect(answer["code"] == "quota_exhausted" && answer["used_bytes"] == 20)
                continue
            }
            #expect(scene.upload(client, id, bytes).status == 200)
            #expect(client.send(.delete, "/v1/attachments/\(id)", token: scene.clientKey).status == 200)
            stored += 1
        }
        #expect(stored == 4)
        #expect(try scene.storedFiles().count == 4)
        // Neither a dry run nor an early run frees anything.
        try clean(at: app.time.now + .seconds(7 * 86_400))
        #expect(client.send(scene.reservation(of: bytes)).status == 413)
        try clean(at: app.time.now + .milliseconds(1), afterlife: .zero)
        #expect(try scene.storedFiles().isEmpty)
        #expect(client.send(scene.reservation(of: bytes)).status == 201)
    }

    /// A row counts its declared size until it is removed, even if other rows name the same bytes.
    @Test func deletedRowsOfASharedFileCountAsWell() throws {
        try app.change("UPDATE projects SET attachment_project_quota_bytes = 14")
        try scene.store.prepare()
        let first = try scene.attach(client, bytes)
        try scene.attach(client, bytes)
        #expect(client.send(.delete, "/v1/attachments/\(first)", token: scene.clientKey).status == 200)
        #expect(client.send(scene.reservation(of: bytes))["used_bytes"] == 10)
        try clean(at: app.time.now + .milliseconds(1), afterlife: .zero)
        #expect(client.send(scene.reservation(of: bytes)).status == 201)
        #expect(try scene.storedFiles().count == 1)
    }

    /// A deleted reservation counts like any other, until it is a day old.
    @Test func deletedReservationsCountForADay() throws {
        try app.change("UPDATE projects SET attachment_project_quota_bytes = 5")
        try scene.store.prepare()
        let id = try scene.reserve(client, bytes)
        #expect(client.send(.delete, "/v1/attachments/\(id)", token: scene.clientKey).status == 200)
        #expect("\(scene.upload(client, id, bytes))" == refusal(410, "Attachment has been deleted"))
        #expect(client.send(scene.reservation(of: bytes)).status == 413)
        try clean(at: app.time.now + .seconds(86_400) + .milliseconds(1))
        #expect(client.send(scene.reservation(of: bytes)).status == 201)
    }

    @Test func reservingUploadingAndDeletingAtOnceKeepsTheQuota() throws {
        let quota: Int64 = 60
        try app.change("UPDATE projects SET attachment_project_quota_bytes = ?", quota)
        try scene.store.prepare()
        let scene = scene
        let isOver = app.atOnce(8) { client, thread in
            for number in 0..<12 {
                let bytes = [UInt8](repeating: UInt8(thread * 12 + number), count: 5)
                let answer = client.send(scene.reservation(of: bytes, ["user_id": .string("u\(thread)")]))
                guard let id = answer["attachment_id"]?.string else { continue }
                // Some are deleted before their upload, some after it.
                if number % 3 == 0 { _ = client.send(.delete, "/v1/attachments/\(id)", token: scene.clientKey) }
                _ = scene.upload(client, id, bytes)
                if number % 3 == 1 { _ = client.send(.delete, "/v1/attachments/\(id)", token: scene.clientKey) }
            }
            return (try? scene.storedFiles().count * 5 > Int(quota)) ?? true
        }
        #expect(isOver.allSatisfy { !$0 })
        #expect(try app.count("SELECT SUM(size_bytes) FROM event_attachments") == Int(quota))
    }

    @Test func aPersonHasOneQuotaUnderAllNames() throws {
        try app.change("UPDATE projects SET attachment_user_quota_bytes = 9")
        _ = try scene.reserve(client, bytes, ["user_id": "owl_anon_a"])
        #expect(client.send(scene.claim("owl_anon_a", "u")).status == 200)
        for name in ["u", "owl_anon_a"] as [JSONValue] {
            #expect(client.send(scene.reservation(of: bytes, ["user_id": name]))["user_used_bytes"] == 5)
        }
        #expect(try scene.records() == ["u"])
    }

    @Test(arguments: [true, false]) func concurrentReservationsFillAQuotaExactly(isOneUsers: Bool) throws {
        let quota: Int64 = 50
        try app.change(
            "UPDATE projects SET attachment_user_quota_bytes = ?, attachment_project_quota_bytes = ?",
            isOneUsers ? quota : 1000, isOneUsers ? 1000 : quota)
        let scene = scene
        let bytes = bytes
        let answers = app.atOnce(32) { client, thread in
            "\(client.send(scene.reservation(of: bytes, ["user_id": isOneUsers ? "u" : .string("u\(thread)")])).status)"
        }
        #expect(answers.filter { $0 == "201" }.count == 10)
        #expect(answers.filter { $0 == "413" }.count == 22)
        #expect(try app.count("SELECT SUM(size_bytes) FROM event_attachments") == 50)
    }

    /// Stores earlier uploads of this size.
    private func occupy(_ size: Int64, of user: String?) throws {
        let owner = try user.flatMap { try scene.recordID(of: $0) }
        try app.change(
            """
            INSERT INTO event_attachments (id, project_id, app_id, event_client_id, app_user_id, original_filename,
                                           content_type, size_bytes, sha256, is_dev, uploaded_at, created_at)
            VALUES (RANDOM_BYTES(16), ?, ?, RANDOM_BYTES(16), ?, 'f', 't', ?, SHA2(?, 256), 0, NOW(3), NOW(3))
            """, scene.project, scene.appID, owner, size, size)
    }

    // MARK: The event

    @Test func theEventGivesItsIdAndItsUser() throws {
        #expect(client.send(scene.properties("u", ["a": "b"])).status == 200)
        let other = try scene.makeApp()
        try scene.insertEvent(uuid(1), user: "u", app: other.id)
        let own = try scene.insertEvent(uuid(2), user: "u")
        #expect(try linked(uuid(1), user: nil) == "- -")
        #expect(try linked(uuid(2), user: nil) == "\(own) u")
        #expect(try linked(uuid(2), user: "v") == "\(own) v")
        let anonymous = try scene.insertEvent(uuid(3), user: nil)
        #expect(try linked(uuid(3), user: nil) == "\(anonymous) -")
    }

    @Test func theEventOfATombstoneIsItsOwners() throws {
        for user in ["u", "owl_anon_a"] as [JSONValue] {
            #expect(client.send(scene.properties(user, ["a": "b"])).status == 200)
        }
        let event = try scene.insertEvent(uuid(1), user: "owl_anon_a")
        #expect(client.send(scene.claim("owl_anon_a", "u")).status == 200)
        #expect(try linked(uuid(1), user: nil) == "\(event) u")
    }

    /// Ingest inserts an event and then looks for attachments. A reservation that is made between these steps must
    /// still get its event.
    @Test(arguments: ["u", nil] as [String?]) func anEventBeingIngestedIsWaitedFor(user: String?) throws {
        #expect(client.send(scene.properties("u", ["a": "b"])).status == 200)
        let ingest = try app.database.connect()
        try ingest.begin()
        let event = UUID(at: app.time.now)
        try ingest.execute(
            """
            INSERT INTO events (id, app_id, client_event_id, session_id, app_user_id, level, message, is_dev, timestamp,
                                received_at)
            SELECT ?, ?, ?, ?, id, 'info', 'm', 0, ?, ? FROM app_users
            """, event, scene.appID, UUID(uuid(1)), UUID(uuid(9)), app.time.now, app.time.now)
        try ingest.execute(
            "UPDATE event_attachments SET event_id = ? WHERE app_id = ? AND event_client_id = ?", event, scene.appID,
            UUID(uuid(1)))
        let scene = scene
        let bytes = bytes
        let answer = Monitor<Int?>(nil)
        let thread = Thread {
            let status = scene.app.client().send(
                scene.reservation(of: bytes, ["user_id": user.map { .string($0) }])
            ).status
            answer.change { $0 = status }
        }
        try app.waitForALockWait()
        try ingest.commit()
        thread.join()
        #expect(answer.withLock { $0 } == 201)
        #expect(try link() == "\(event) u")
    }

    /// A reservation has found no event, and is not committed when the event is ingested: alone, or in a batch, which first asks
    /// if anything waits.
    @Test(arguments: [1, 5]) func anUncommittedReservationIsWaitedFor(events: Int) throws {
        let reservation = try app.database.connect()
        try reservation.begin()
        try reservation.execute(
            """
            INSERT INTO event_attachments (id, project_id, app_id, event_client_id, original_filename, content_type,
                                           size_bytes, sha256, is_dev, created_at)
            VALUES (RANDOM_BYTES(16), ?, ?, ?, 'f', 't', 5, SHA2('f', 256), 0, NOW(3))
            """, scene.project, scene.appID, UUID(uuid(events)))
        let scene = scene
        let answer = Monitor<Int?>(nil)
        let thread = Thread {
            let batch = (1...events).map { scene.event(of: "u", id: $0) }
            let status = scene.app.client().send(scene.ingest(batch)).status
            answer.change { $0 = status }
        }
        try app.waitForALockWait()
        try reservation.commit()
        thread.join()
        #expect(answer.withLock { $0 } == 200)
        #expect(
            try app.column(
                """
                SELECT CONCAT(user_id, (SELECT e.client_event_id FROM events e WHERE e.id = t.event_id) = t.event_client_id)
                FROM event_attachments_resolved t
                """) == ["u1"])
    }

    /// A batch links what waits for its events, and leaves alone what waits for others.
    @Test func aBatchLinksTheAttachmentsOfItsEventsOnly() throws {
        for number in [2, 4, 9] { _ = try scene.reserve(client, bytes, ["client_event_id": .string(uuid(number))]) }
        #expect(client.send(scene.ingest((1...5).map { scene.event(of: "u", id: $0) })).status == 200)
        #expect(
            try app.column(
                """
                SELECT CONCAT(COALESCE((SELECT e.client_event_id FROM events e WHERE e.id = t.event_id) = t.event_client_id, 0))
                FROM event_attachments t ORDER BY event_client_id
                """) == ["1", "1", "0"])
    }

    /// Few and many events of one id, each with a time of its own.
    @Test(arguments: 1...4) func ofSeveralEventsTheFirstIsLinked(events: Int) throws {
        _ = try scene.reserve(client, bytes, ["client_event_id": .string(uuid(7))])
        let times = (1...events).map { app.time.now - .seconds(Int64($0)) }
        let batch = times.map { scene.event(of: "u", id: 7, at: $0.iso8601Milliseconds) }
        #expect(client.send(scene.ingest(batch)).status == 200)
        #expect(
            try app.column(
                "SELECT CONCAT(e.timestamp) FROM event_attachments t JOIN events e ON e.id = t.event_id")
                == app.column("SELECT CONCAT(MAX(timestamp)) FROM events"))
        #expect(try app.count("SELECT COUNT(*) FROM events") == events)
    }

    @Test func reservationsAndEventsMeetInWhateverOrderTheyCome() throws {
        let (scene, bytes) = (scene, bytes)
        let answers = app.race(4, rounds: 40) { client, thread, round in
            let event = thread < 2 ? round : round + 1000
            return switch thread % 2 {
            case 0: client.send(scene.ingest([scene.event(of: "u", id: event)])).status
            default:
                client.send(
                    scene.reservation(of: bytes, ["client_event_id": .string(uuid(event)), "user_id": nil])
                ).status
            }
        }
        #expect(answers == Array(repeating: [200, 201, 200, 201], count: 40))
        if app.database.isOnCluster {
            // Two that were stored on two nodes at the same moment find each other when the file is uploaded.
            try scene.store.prepare()
            for id in try app.ids("SELECT id FROM event_attachments") {
                #expect(scene.upload(client, id.description, bytes).status == 200)
            }
        }
        #expect(
            try app.column(
                """
                SELECT DISTINCT CONCAT_WS(' ', user_id, (SELECT e.client_event_id FROM events e WHERE e.id = t.event_id)
                                                        = t.event_client_id)
                FROM event_attachments_resolved t
                """) == ["u 1"])
        #expect(try scene.reservations() == 80)
        #expect(app.statistics.exhaustions.value == 0)
    }

    private func linked(_ event: String, user: String?) throws -> String {
        try app.change("DELETE FROM event_attachments")
        _ = try scene.reserve(
            client, bytes, ["client_event_id": .string(event), "user_id": user.map { .string($0) }])
        return try link()
    }

    /// The event and the user of the only attachment.
    private func link() throws -> String {
        try app.sql { db in
            try db.first("SELECT event_id, user_id FROM event_attachments_resolved") { row in
                let (event, user) = (try row.read(UUID?.self), try row.read(String?.self))
                return "\(event?.description ?? "-") \(user ?? "-")"
            } ?? ""
        }
    }
}
