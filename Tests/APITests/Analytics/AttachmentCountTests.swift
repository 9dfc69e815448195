import Analytics
import AnalyticsJobs
import HTTP
import JSON
import TestSupport
import Testing
import Time

/// Projects and end users count their attachments, so that a quota check costs the same for any number of attachments
/// (analytics §11.1).
@Suite struct AttachmentCountTests {
    let app: TestApp
    let scene: AnalyticsScene

    init() throws {
        app = try TestApp()
        scene = try AnalyticsScene(app)
        try scene.store.prepare()
    }

    /// Concurrent work on the attachments of a few users. Each thread runs its own series.
    private struct Series {
        let scene: AnalyticsScene
        let client: Client
        var numbers: Numbers
        var reserved: [(id: String, bytes: [UInt8])] = []

        static let anonymous = ["owl_anon_a", "owl_anon_b", "owl_anon_c", "owl_anon_d"]

        /// - Returns: the answer's status; 200 for a job.
        mutating func step() throws -> Int {
            switch numbers.next(12) {
            case 0..<4:
                let bytes = [UInt8](repeating: UInt8(numbers.next(200)), count: 1 + numbers.next(9))
                let answer = client.send(
                    scene.reservation(of: bytes, ["client_event_id": .string(event()), "user_id": user()]))
                if let id = answer["attachment_id"]?.string { reserved.append((id, bytes)) }
                return answer.status
            case 4, 5: return upload { $0 }
            // Bytes that differ from the announcement end the reservation.
            case 6: return upload { $0.map { ~$0 } }
            case 7, 8:
                guard let (id, _) = pick() else { return 200 }
                return client.send(.delete, "/v1/attachments/\(id)", token: scene.clientKey).status
            case 9:
                let sent = scene.event("m", of: user()?.string).adding(["client_event_id": .string(event())])
                return client.send(scene.ingest([sent])).status
            case 10:
                let name = Self.anonymous[numbers.next(4)]
                return client.send(scene.claim(.string(name), .string(["u", "v"][numbers.next(2)]))).status
            default:
                let database = try scene.database()
                if numbers.next(2) == 0 {
                    // At this time, clean-up removes all deleted attachments and unfilled reservations.
                    let later = scene.app.time.now + .seconds(2 * 86_400)
                    _ = try AttachmentCleanup(scene.store, at: later, afterlife: .zero).run(database)
                } else {
                    try Compaction(grace: .zero, clock: scene.app.time.clock).run(database)
                }
                return 200
            }
        }

        private mutating func upload(_ change: ([UInt8]) -> [UInt8]) -> Int {
            guard let (id, bytes) = pick() else { return 200 }
            return scene.upload(client, id, change(bytes)).status
        }

        private mutating func pick() -> (id: String, bytes: [UInt8])? {
            reserved.isEmpty ? nil : reserved[numbers.next(reserved.count)]
        }

        private mutating func event() -> String { uuid(1 + numbers.next(6)) }

        private mutating func user() -> JSONValue? {
            let names = Self.anonymous + ["u", "v", "w"]
            let choice = numbers.next(names.count + 2)
            return choice < names.count ? .string(names[choice]) : nil
        }
    }

    /// SplitMix64: the same seed gives the same series.
    private struct Numbers {
        var state: UInt64

        mutating func next(_ bound: Int) -> Int {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return Int((mixed ^ (mixed >> 31)) % UInt64(bound))
        }
    }

    @Test(arguments: [1, 2, 3]) func countsEqualTheRowsAfterAnySeries(seed: UInt64) throws {
        let scene = scene
        let statuses = app.atOnce(4) { client, thread in
            var series = Series(scene: scene, client: client, numbers: Numbers(state: seed << 8 + UInt64(thread)))
            return Result { try (0..<60).map { _ in try series.step() } }
        }
        for status in try statuses.flatMap({ try $0.get() }) { #expect(status < 500, "\(status)") }
        #expect(try app.count("SELECT COUNT(*) FROM event_attachments") > 0)
        try scene.expectClean()
        let usage = scene.get("/v1/projects/\(scene.project)/attachment-usage?user_id=u", app.client())
        let bytes = try app.count("SELECT COALESCE(SUM(size_bytes), 0) FROM event_attachments")
        #expect(usage["used_bytes"] == .integer(Int64(bytes)))
        let share = try app.count(
            """
            SELECT COALESCE(SUM(t.size_bytes), 0)
            FROM event_attachments t JOIN app_users u ON u.id = t.app_user_id WHERE u.user_id = 'u'
            """)
        #expect(usage["user_used_bytes"] == .integer(Int64(share)))
    }

    @Test func quotasReadTheSameHoweverManyThereAre() throws {
        let meter = try ReadMeter(app)
        #expect(meter.client.send(scene.reservation(of: [1])).status == 201)
        let user = try #require(try scene.recordID(of: "u"))
        func costs() throws -> [Int] {
            let usage = { (client: Client) in
                scene.get("/v1/projects/\(scene.project)/attachment-usage?user_id=u", client)
            }
            // Each connection prepares a statement only once.
            _ = (usage(meter.client), meter.client.send(scene.reservation(of: [1])))
            return try [
                meter.measure { $0.send(scene.reservation(of: [1])) }.cost.rowsRead,
                meter.measure(usage).cost.rowsRead,
            ]
        }
        let few = try costs()
        try app.change(
            """
            INSERT INTO event_attachments (id, project_id, app_id, event_client_id, app_user_id, original_filename,
                                           content_type, size_bytes, sha256, is_dev, created_at)
            SELECT RANDOM_BYTES(16), ?, ?, RANDOM_BYTES(16), ?, 'f', 't', 1, SHA2(seq, 256), 0, NOW(3)
            FROM seq_1_to_5000
            """, scene.project, scene.appID, user)
        #expect(try costs() == few)
        try scene.expectClean()
    }
}
