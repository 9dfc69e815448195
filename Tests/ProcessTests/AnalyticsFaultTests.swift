import Foundation
import JSON
import MariaDB
import Synchronization
import TestSupport
import Testing
import Threads

/// Events are stored exactly once and under the right owner, even if processes die (analytics §16, guarantees 3 and 5).
/// Sixteen connections to two instances write about the same few users, who sign in meanwhile, while compaction runs.
/// An instance and the database are killed. Every request is repeated until it is answered.
@Suite struct AnalyticsFaultTests {
    private static let writers = 16
    private static let rounds = 30
    /// People; each has an anonymous id that all writers use.
    private static let people = 4

    @Test func nothingIsLostDoubledOrAstrayWhenServersDie() throws {
        let mariadb = try MariaDBServer()
        let installation = try Installation(
            database: try TestDatabase(on: mariadb), ["MERGANSER_TOMBSTONE_GRACE_SECONDS": "0"])
        let keys = try AnalyticsKeys(installation)
        let second = [
            "MERGANSER_SOCKET": installation.directory.file("second.sock"),
            "MERGANSER_CONTROL_SOCKET": installation.directory.file("second-control.sock"),
        ]
        let servers = Mutex([try installation.readyServer(), try installation.readyServer(setting: second)])

        let progress = Monitor(0)
        let failures = Mutex<[String]>([])
        let threads = (0..<Self.writers).map { number in
            Threads.Thread {
                let writer = Writer(
                    number, sockets: ["fastcgi.sock", "second.sock"].map(installation.directory.file), keys)
                for round in 0..<Self.rounds {
                    do {
                        try writer.write(round)
                    } catch {
                        failures.withLock { $0.append("\(error)") }
                    }
                    progress.change { $0 += 1 }
                }
            }
        }
        let isOver = Atomic(false)
        let compactor = Threads.Thread {
            // Fails while the database is away; the next run goes on.
            while !isOver.load(ordering: .relaxed) { _ = try? installation.tool("compact", "--json") }
        }
        func waitForProgress(_ count: Int) throws {
            let reached = progress.wait(atMost: .seconds(120)) { $0 >= count ? true : nil }
            try #require(reached == true, "\(failures.withLock { $0 }.prefix(3))")
        }
        let total = Self.writers * Self.rounds
        try waitForProgress(total / 5)
        servers.withLock { $0[0] }.kill()
        try servers.withLock { $0[0] }.waitForExit()
        let replacement = try installation.readyServer()
        servers.withLock { $0[0] = replacement }
        try waitForProgress(total * 2 / 5)
        mariadb.kill9()
        try mariadb.start()
        try waitForProgress(total * 3 / 5)
        servers.withLock { $0[1] }.kill()
        try servers.withLock { $0[1] }.waitForExit()
        let other = try installation.readyServer(setting: second)
        servers.withLock { $0[1] = other }
        threads.forEach { $0.join() }
        isOver.store(true, ordering: .relaxed)
        compactor.join()
        #expect(failures.withLock { $0 } == [])

        try checkEvents(installation)
        try checkOwners(installation)
        let verified = try installation.tool("verify", "--json")
        #expect(verified.exit == .status(0), "\(verified.output)\(verified.errorOutput)")
        #expect(try installation.tool("compact").exit == .status(0))
        let again = try installation.tool("verify", "--json")
        #expect(again.exit == .status(0), "\(again.output)\(again.errorOutput)")
        let tombstones = try installation.database.connect().first(
            "SELECT COUNT(*) FROM app_users WHERE merged_into IS NOT NULL"
        ) { row in try row.read(Int.self) }
        #expect(tombstones == 0)
    }

    /// Every event of every batch is stored once, with its copy.
    private func checkEvents(_ installation: Installation) throws {
        let db = try installation.database.connect()
        let expected = Set(
            (0..<Self.writers).flatMap { writer in
                (0..<Self.rounds).flatMap { round in (0..<3).map { Writer.eventID(writer, round, $0) } }
            })
        for sql in [
            "SELECT LOWER(HEX(client_event_id)) FROM events",
            "SELECT LOWER(HEX(client_event_id)) FROM metric_events",
        ] as [StaticString] {
            let stored = try db.all(sql) { row in try row.read(String.self) }
            #expect(stored.count == Set(stored).count, "\(sql)")
            #expect(Set(stored) == Set(expected.map { $0.replacing("-", with: "") }), "\(sql)")
        }
    }

    /// A user who has signed in owns everything that was stored under the anonymous id, and has one record.
    private func checkOwners(_ installation: Installation) throws {
        let db = try installation.database.connect()
        let users = try db.all("SELECT user_id FROM app_users WHERE merged_into IS NULL ORDER BY user_id") { row in
            try row.read(String.self)
        }
        #expect(users == (0..<Self.people).map { "person-\($0)" })
        let stray = try db.first(
            """
            SELECT (SELECT COUNT(*) FROM events_resolved WHERE user_id IS NULL OR user_id NOT LIKE 'person-%')
                 + (SELECT COUNT(*) FROM feedback_resolved WHERE user_id IS NULL OR user_id NOT LIKE 'person-%')
            """
        ) { row in try row.read(Int.self) }
        #expect(stray == 0)
    }

    /// One connection's requests.
    private final class Writer {
        private let number: Int
        private let sockets: [String]
        private let keys: AnalyticsKeys
        private var connection: FastCGIClient?
        private var attempts = 0

        init(_ number: Int, sockets: [String], _ keys: AnalyticsKeys) {
            self.number = number
            self.sockets = sockets
            self.keys = keys
        }

        static func eventID(_ writer: Int, _ round: Int, _ event: Int) -> String {
            let digits = String(writer * 1_000_000 + round * 100 + event)
            return "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
        }

        func write(_ round: Int) throws {
            let person = (number + round) % AnalyticsFaultTests.people
            let user = round.isMultiple(of: 3) ? "person-\(person)" : "owl_anon_\(person)"
            // Sooner or later for each of them.
            if round % 10 == number % 10 {
                let person = (number + round / 10) % AnalyticsFaultTests.people
                try send("/v1/identity/claim", #"{"anonymous_id":"owl_anon_\#(person)","user_id":"person-\#(person)"}"#)
            }
            let events = (0..<3).map { event in
                #"""
                {"client_event_id":"\#(Self.eventID(number, round, event))","message":"metric:load:record",\#
                "level":"info","session_id":"00000000-0000-4000-8000-000000000000","user_id":"\#(user)",\#
                "timestamp":"\#(keys.start)"}
                """#
            }
            let batch = #"{"bundle_id":"com.example","events":[\#(events.joined(separator: ","))]}"#
            try send("/v1/ingest", batch)
            if round % 4 == 1 {
                // As after an answer that was lost, and to the other instance.
                attempts += 1
                connection = nil
                try send("/v1/ingest", batch)
            }
            switch round % 3 {
            case 0: try send("/v1/identity/properties", #"{"user_id":"\#(user)","properties":{"k\#(number)":"v"}}"#)
            case 1: try send("/v1/feedback", #"{"bundle_id":"com.example","message":"m","user_id":"\#(user)"}"#)
            default:
                try send(
                    "/v1/questionnaires/exit-survey/responses",
                    #"{"bundle_id":"com.example","user_id":"\#(user)","answers":{"why":"price"}}"#)
            }
        }

        /// Repeats a request until it succeeds. After a 503, or without an answer, the next attempt goes to the other
        /// instance.
        private func send(_ path: String, _ body: String) throws {
            let deadline = ContinuousClock.now + .seconds(60)
            while ContinuousClock.now < deadline {
                if let answer = try? ask(path, body) {
                    switch answer.status {
                    case 200, 201: return
                    case 503: break
                    default:
                        throw TestSupportError(
                            "\(path): \(answer.status) \(String(decoding: answer.body, as: UTF8.self))")
                    }
                }
                attempts += 1
                connection = nil
                usleep(20_000)
            }
            throw TestSupportError("no success within a minute: \(path)")
        }

        private func ask(_ path: String, _ body: String) throws -> FastCGIClient.Answer? {
            let connection = try connection ?? FastCGIClient(sockets[(number + attempts) % sockets.count])
            self.connection = connection
            return try connection.ask(
                "POST", path,
                headers: [("HTTP_AUTHORIZATION", "Bearer \(keys.client)"), ("CONTENT_TYPE", "application/json")],
                body: Array(body.utf8), keep: true)
        }
    }
}

/// A project with an app and what its SDKs need, made by the operator's commands.
struct AnalyticsKeys: Sendable {
    let project: String
    let app: String
    let client: String
    /// When it was made, in ISO 8601.
    let start: String

    init(_ installation: Installation) throws {
        func make(_ arguments: String..., member: String = "id") throws -> String {
            let outcome = try installation.tool(arguments + ["--json"])
            guard let value = try? JSONValue(json: Array(outcome.output.utf8))[member]?.string else {
                throw TestSupportError("\(arguments): \(outcome.output)\(outcome.errorOutput)")
            }
            return value
        }
        let team = try make("team", "create", "--name", "Team")
        project = try make("project", "create", "--team", team, "--name", "Project", "--slug", "project")
        app = try make(
            "app", "create", "--project", project, "--platform", "apple", "--bundle-id", "com.example", "--name", "App")
        client = try make("api-key", "create", "--type", "client", "--app", app, member: "secret")
        _ = try make(
            "questionnaire", "create", "--project", project, Repository.root + "/Tests/Fixtures/questionnaire.json")
        start = Date().ISO8601Format(.iso8601(timeZone: .gmt))
    }
}
