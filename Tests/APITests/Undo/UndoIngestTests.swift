import Analytics
import HTTP
import JSON
import MariaDB
import Synchronization
import TestSupport
import Testing
import Time

@testable import Accounts

/// Merges and undos beside the events of both devices: afterwards each event reads under exactly one user, the right one
/// (accounts Stages 5 and 6).
@Suite struct UndoIngestTests {
    private static let rounds = 12

    let people: OAuthScene
    let app: TestApp
    let scene: AnalyticsScene
    let ada: Phone
    let bea: Phone

    init() throws {
        people = try OAuthScene()
        app = people.app
        scene = try AnalyticsScene(app)
        try app.change("UPDATE projects SET accounts = TRUE")
        ada = try people.person("ada", email: "ada@example.com")
        bea = try people.person("bea", email: "bea@example.com")
    }

    private static func merge(_ ada: Phone, into bea: Phone, with client: Client) throws -> MergeID {
        let token = client.send(.post, "/api/v1/me/merge/session-token", token: try client.reopen(ada))["session_token"]
        return try client.send(.post, "/api/v1/me/merge", ["target_session_token": token ?? .null], token: bea.token)
            .merge()
    }

    /// Has the phone keep an id, which is claimed for its owner.
    private func claim(_ id: String, by phone: Phone) throws {
        let answer = people.client.send(
            .post, "/api/v1/devices",
            [
                "device_uuid": .string(phone.uuid), "platform": "ios", "device_secret": .string(phone.secret),
                "anonymous_id": .string(id),
            ])
        try #require(answer["claims"]?.array?.first?["outcome"] == "claimed", "\(answer)")
    }

    /// A request for a while, or a merge or an undo.
    private struct Span: Sendable {
        let what: String
        let begin: ContinuousClock.Instant
        let end: ContinuousClock.Instant
    }

    /// Whose the absorbed account's events are that a request reported.
    ///
    /// - Parameter changes: merges and undos in turns.
    /// - Returns: nil if it ran beside a change.
    private func owner(of report: Span, _ changes: [Span]) -> Int? {
        if changes.contains(where: { $0.begin <= report.end && report.begin <= $0.end }) { return nil }
        return changes.last { $0.end < report.begin }?.what == "merge" ? bea.userID : ada.userID
    }

    @Test func eachEventHasOneOwner() throws {
        let ids = ["owl_anon_ada", "owl_anon_bea"]
        for (id, phone) in zip(ids, [ada, bea]) { try claim(id, by: phone) }
        let changes = Mutex<[Span]>([])
        let isDone = Atomic(false)
        // How many reports were answered.
        let served = Atomic(0)
        // By user id and by the id of the device, and in one batch.
        let names = [
            ["\(ada.userID)"], [ids[0]], ["\(bea.userID)"], [ids[1]], ["\(ada.userID)", "\(bea.userID)"] + ids,
        ]
        let reports = app.atOnce(names.count + 1) { [app, scene, ada, bea] client, thread -> [Span] in
            if thread == names.count {
                defer { isDone.store(true, ordering: .releasing) }
                func note(_ what: String, _ change: () throws -> Void) {
                    let begin = ContinuousClock.now
                    do { try change() } catch { Issue.record(error) }
                    let span = Span(what: what, begin: begin, end: .now)
                    changes.withLock { $0.append(span) }
                    app.time.advance(by: .milliseconds(7))
                    // Each reporter has at most one report under way that ran beside the change. The other three are
                    // certain.
                    let enough = served.load(ordering: .acquiring) + names.count + 3
                    do { try app.wait { served.load(ordering: .acquiring) >= enough } } catch { Issue.record(error) }
                }
                for _ in 0..<Self.rounds {
                    var merge: MergeID?
                    note("merge") { merge = try Self.merge(ada, into: bea, with: client) }
                    note("undo") { if let merge { try app.undo(merge) } }
                }
                return []
            }
            var spans: [Span] = []
            while !isDone.load(ordering: .acquiring) {
                let message = "\(thread) \(spans.count)"
                let begin = ContinuousClock.now
                let answer = client.sendUntilServed(
                    scene.ingest(names[thread].map { scene.event("\(message) of \($0)", of: $0) }))
                #expect(answer.status == 200, "\(answer)")
                spans.append(Span(what: message, begin: begin, end: .now))
                served.add(1, ordering: .releasing)
            }
            return spans
        }
        let found = Dictionary(
            grouping: try app.sql { db in
                try db.all("SELECT message, user_id FROM events_resolved") { row in
                    (message: try row.read(String.self), user: try row.read(String?.self) ?? "nobody")
                }
            }, by: \.message)
        let all = changes.withLock { $0 }
        #expect(all.count == 2 * Self.rounds)
        var certain = 0
        for (thread, spans) in reports.dropLast().enumerated() {
            for span in spans {
                let owner = owner(of: span, all)
                if owner != nil { certain += 1 }
                for name in names[thread] {
                    let users = found["\(span.what) of \(name)"]?.map(\.user)
                    try #require(users?.count == 1, "\(span.what) of \(name): \(users ?? [])")
                    let isAdas = ["\(ada.userID)", ids[0]].contains(name)
                    let possible = isAdas ? owner.map { [$0] } ?? [ada.userID, bea.userID] : [bea.userID]
                    #expect(
                        possible.map(String.init).contains(users?[0] ?? ""), "\(span.what) of \(name): \(users ?? [])")
                }
            }
        }
        #expect(certain > 50)
        #expect(
            found.count
                == reports.dropLast().enumerated().reduce(0) { $0 + $1.element.count * names[$1.offset].count })
        try scene.expectClean()
        #expect(try scene.counters() == scene.countedEvents())
    }

    /// The merge gave the survivor the other one's visit of the app. Its own events, right after, make it its own.
    @Test func aVisitSoonAfterAMergeStays() throws {
        #expect(people.client.send(scene.ingest([scene.event("ada's", of: "\(ada.userID)")])).status == 200)
        app.time.advance(by: .seconds(5))
        let merge = try Self.merge(ada, into: bea, with: people.client)
        app.time.advance(by: .seconds(5))
        #expect(people.client.send(scene.ingest([scene.event("bea's", of: "\(bea.userID)")])).status == 200)
        try app.undo(merge)
        let visits = try app.sql { db in
            try db.all(
                "SELECT u.user_id FROM app_user_apps v JOIN app_users u ON u.id = v.app_user_id ORDER BY u.id"
            ) { row in try row.read(String.self) }
        }
        #expect(Set(visits) == ["\(ada.userID)", "\(bea.userID)"])
    }

    /// What stands in the way on either side is listed together, and stays together.
    @Test func conflictsOfAccountsAndRecords() throws {
        let agent = try people.client.agent(of: ada, in: app)
        let all: [(Phone, JSONValue)] = [(ada, ["own of ada's": "1", "plan": "a"]), (bea, ["own of bea's": "1"])]
        for (phone, properties) in all {
            let answer = people.client.send(scene.properties(.string("\(phone.userID)"), properties))
            try #require(answer.status == 200, "\(answer)")
        }
        let merge = try Self.merge(ada, into: bea, with: people.client)
        let changed = people.client.send(scene.properties(.string("\(bea.userID)"), ["plan": "b"]))
        try #require(changed.status == 200, "\(changed)")
        try app.change("UPDATE agents SET name = 'Renamed' WHERE public_id = ?", agent.id)
        let record = try #require(try scene.recordID(of: "\(bea.userID)"))
        try app.expectUnchanged {
            let failure = #expect(throws: Failure.self) { try app.undo(merge) }
            guard case .undoConflict(let conflicts) = failure else {
                Issue.record("\(failure.map { "\($0)" } ?? "undone")")
                return
            }
            #expect(conflicts.map(\.table) == ["agents", "app_users"])
            #expect(conflicts.map(\.reason) == [.changed, .changed])
            #expect(conflicts.last?.key == "\(record) plan")
        }
        let undone = try app.undo(merge, keepingChanged: true)
        #expect(undone.kept.map(\.table) == ["agents", "app_users"])
        #expect(try app.column("SELECT CONCAT(user_id) FROM agents") == ["\(bea.userID)"])
        func properties(of phone: Phone) throws -> JSONValue {
            let text = try app.column("SELECT properties FROM app_users WHERE user_id = ?", "\(phone.userID)").first
            return try JSONValue(json: Array((text ?? "null").utf8))
        }
        #expect(try properties(of: bea) == ["own of bea's": "1", "plan": "b"])
        #expect(try properties(of: ada) == ["own of ada's": "1", "plan": "a"])
        try scene.expectClean()
    }
}
