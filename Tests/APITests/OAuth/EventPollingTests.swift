import HTTP
import JSON
import MariaDB
import TestSupport
import Testing
import Time

@testable import Accounts

/// GET /api/v1/events (accounts §3.6).
@Suite struct EventPollingTests {
    let scene: OAuthScene
    let app: TestApp
    let rp: TestClient

    init() throws {
        scene = try OAuthScene()
        app = scene.app
        rp = try scene.register(confidential: true)
    }

    private static let path = "/api/v1/events"

    private func poll(_ query: String = "", by rp: TestClient? = nil, with client: Client? = nil) -> Answer {
        (client ?? scene.client).send(.get, Self.path + query, headers: [authorization(of: rp ?? self.rp)])
    }

    private func authorization(of rp: TestClient) -> (name: String, value: String) {
        ("authorization", basic(rp.clientID, rp.secret ?? ""))
    }

    /// Writes events in one transaction: of a promotion, of users by number.
    private func write(_ users: Int64..., to rp: TestClient? = nil) throws {
        let application = Application.ID(rawValue: Int64((rp ?? self.rp).id))
        try app.operate { transaction in
            for user in users {
                transaction.emit(.userPromoted(User.ID(rawValue: user), knownAs: "\(user)", at: application))
            }
        }
    }

    private func seqs(_ answer: Answer) -> [Int] { answer["events"]?.array?.compactMap { $0["seq"]?.integer } ?? [] }

    private func ids() throws -> [String] {
        try app.column("SELECT event_id FROM webhook_outbox WHERE application_id = ? ORDER BY seq", rp.id)
    }

    // MARK: Answers

    @Test func anEventIsItsEnvelopeWithItsNumber() throws {
        try write(7, 8)
        try write(9, to: try scene.register(confidential: true))
        let payloads = try app.column(
            "SELECT raw_payload FROM webhook_outbox WHERE application_id = ? ORDER BY seq", rp.id)
        let ids = try ids()
        #expect(
            payloads[0]
                == #"{"data":{"canonical_sub":"7","sub":"7"},"event_id":"\#(ids[0])","event_type":"user.promoted","#
                + #""occurred_at":"\#(app.time.now.iso8601)"}"#)
        let answer = poll()
        #expect(answer.header("Cache-Control") == "no-store")
        #expect(
            answer.text == #"{"events":["# + payloads[0].dropLast() + #","seq":1},"# + payloads[1].dropLast()
                + #","seq":2}],"next_cursor":"2","has_more":false}"#)
    }

    @Test func cursorsLeadFromPageToPage() throws {
        for user: Int64 in 1...7 { try write(user) }
        var (cursor, pages) = ("0", [[Int]]())
        while true {
            let answer = poll("?since=\(cursor)&limit=3")
            pages.append(seqs(answer))
            cursor = try #require(answer["next_cursor"]?.string, "\(answer)")
            #expect(answer["has_more"] == .bool(pages.count < 3))
            if answer["has_more"] == false { break }
        }
        #expect(pages == [[1, 2, 3], [4, 5, 6], [7]])
        // Of an event, too.
        let ids = try ids()
        #expect(seqs(poll("?since=\(ids[4])")) == [6, 7])
        // What was given comes back when nothing came.
        for since in [cursor, ids[6]] {
            #expect(poll("?since=\(since)").text == #"{"events":[],"next_cursor":"\#(since)","has_more":false}"#)
        }
    }

    @Test func withoutACursorItIsTheLastHour() throws {
        #expect(poll().text == #"{"events":[],"next_cursor":null,"has_more":false}"#)
        #expect(poll("?since=0").text == #"{"events":[],"next_cursor":"0","has_more":false}"#)
        try write(1)
        app.time.advance(by: .seconds(1))
        try write(2)
        app.time.advance(by: .seconds(3599))
        try write(3)
        #expect(seqs(poll()) == [1, 2, 3])
        app.time.advance(by: .milliseconds(1))
        #expect(seqs(poll()) == [2, 3])
        #expect(poll("?limit=1")["next_cursor"] == "2" && poll("?limit=1")["has_more"] == true)
        app.time.advance(by: .seconds(3600))
        #expect(poll().text == #"{"events":[],"next_cursor":null,"has_more":false}"#)
        #expect(seqs(poll("?since=0")) == [1, 2, 3])
    }

    @Test func typesAreFiltered() throws {
        let person = try scene.person()
        _ = try scene.signIn(rp, as: person)
        try write(1)
        let path = "/api/v1/me/connected_apps/\(rp.clientID)"
        #expect(scene.client.send(.delete, path, token: person.token).status == 204)
        try write(2)
        func types(_ query: String) -> [Int] { seqs(poll("?since=0&event_type=" + query)) }
        #expect(types("user.promoted") == [1, 5])
        #expect(types("consent.revoked,user.promoted") == [1, 3, 5])
        #expect(types("consent.revoked%2Ctoken.revoked,token.revoked,,nonsense") == [2, 3])
        #expect(types("nonsense") == [] && types("USER.PROMOTED") == [])
        #expect(types("") == [1, 2, 3, 4, 5])
        let first = poll("?since=0&limit=1&event_type=user.promoted,consent.revoked")
        #expect(first["next_cursor"] == "1" && first["has_more"] == true)
        #expect(seqs(poll("?since=1&limit=1&event_type=user.promoted,consent.revoked")) == [3])
        #expect(poll("?since=5&event_type=user.promoted")["next_cursor"] == "5")
    }

    // MARK: What is refused

    @Test func whatIsNoCursorIsRefused() throws {
        let other = try scene.register(confidential: true)
        try write(1, 2)
        try write(3, 4, 5, to: other)
        let foreign = try app.column("SELECT event_id FROM webhook_outbox WHERE application_id = ?", other.id)[0]
        let bad = [
            "3", "99999999999999999999", "-1", "%2B1", "01", "1.0", "1e0", "x", "", "null", foreign, "evt_", "%00",
            "%C3%A9", "\(try ids()[0])%20", try ids()[0].lowercased(),
        ]
        for since in bad {
            for more in ["", "&event_type=user.promoted", "&event_type=nonsense"] {
                let answer = poll("?since=\(since)\(more)")
                #expect("\(answer)" == refusal(400, "invalid_cursor"), "\(since)\(more)")
            }
        }
        for since in ["0", "1", "2"] { #expect(poll("?since=\(since)").status == 200) }
    }

    @Test func aLimitIsANumberAboveZero() throws {
        try write(1, 2, 3, 4, 5, 6)
        for limit in ["0", "00", "-1", "x", "", "1.5", "1e2", "%2B5", "%205", "0x5", "%D9%A5"] {
            #expect("\(poll("?limit=\(limit)"))" == refusal(400, "invalid_request"), "\(limit)")
        }
        for (limit, count) in [("5", 5), ("05", 5), ("1000", 6), ("1001", 6), ("99999999999999999999999", 6)] {
            #expect(seqs(poll("?limit=\(limit)")).count == count, "\(limit)")
        }
    }

    @Test func itIsAtMostAThousand() throws {
        try app.operate { transaction in
            for user: Int64 in 1...1001 {
                transaction.emit(
                    .userPromoted(
                        User.ID(rawValue: user), knownAs: "\(user)", at: Application.ID(rawValue: Int64(rp.id))))
            }
        }
        #expect(seqs(poll()).count == 100)
        let answer = poll("?limit=5000")
        #expect(seqs(answer) == Array(1...1000) && answer["has_more"] == true && answer["next_cursor"] == "1000")
    }

    @Test func onlyAConfidentialClientByBasicPolls() throws {
        let person = try scene.person()
        let open = try scene.register()
        let suspended = try scene.register(confidential: true)
        try app.change("UPDATE applications SET status = 'suspended' WHERE id = ?", suspended.id)
        let tokens = try scene.signIn(rp, as: person)
        let refused: [String?] = [
            nil, "Bearer \(person.token)", "Bearer \(tokens.access)", basic(open.clientID, ""), basic(rp.clientID, ""),
            basic(rp.clientID, "wrong"), basic("logi_unknown", "x"), "Basic x", "Basic",
            basic(suspended.clientID, suspended.secret ?? ""),
        ]
        for authorization in refused {
            for method in [HTTP.Method.get, .head] {
                let headers = authorization.map { [(name: "authorization", value: $0)] } ?? []
                let answer = scene.client.send(method, Self.path, headers: headers)
                #expect("\(answer)" == refusal(401, "invalid_client"), "\(authorization ?? "none")")
                #expect(answer.header("WWW-Authenticate") == #"Basic realm="merganser""#)
            }
        }
        #expect(poll().status == 200)
    }

    @Test func headChangesNothing() throws {
        try write(1)
        try app.expectUnchanged {
            let head = scene.client.send(.head, Self.path, headers: [authorization(of: rp)])
            #expect(head.status == 200 && head.response.length == poll().response.length)
        }
    }

    // MARK: What is erased

    private func erase() throws -> Int { try app.operate { try $0.collect(.events, loginHistory: .zero) } }

    @Test func aCursorIsGoodUntilSomethingAfterItIsErased() throws {
        try write(1, 2)
        app.time.advance(by: .seconds(1))
        try write(3)
        app.time.advance(by: .seconds(30 * 86_400 - 1))
        #expect(try erase() == 0)
        app.time.advance(by: .milliseconds(1))
        #expect(try erase() == 2)
        try write(4)
        #expect(poll("?since=1").error == "invalid_cursor")
        #expect(seqs(poll("?since=2")) == [3, 4], "nothing between is missing")
        #expect(seqs(poll("?since=0")) == [3, 4])

        // Nothing is left, and the numbers go on.
        app.time.advance(by: .seconds(31 * 86_400))
        #expect(try erase() == 2 && erase() == 0)
        #expect(poll("?since=3").error == "invalid_cursor")
        #expect(poll("?since=4").text == #"{"events":[],"next_cursor":"4","has_more":false}"#)
        try write(5)
        #expect(seqs(poll("?since=4")) == [5])
        #expect(seqs(poll()) == [5])
    }

    @Test func erasingGoesInBatches() throws {
        let other = try scene.register(confidential: true)
        for rp in [rp, other] {
            try app.operate { transaction in
                for user: Int64 in 1...300 {
                    transaction.emit(
                        .userPromoted(
                            User.ID(rawValue: user), knownAs: "\(user)", at: Application.ID(rawValue: Int64(rp.id))))
                }
            }
        }
        app.time.advance(by: .seconds(31 * 86_400))
        try write(1)
        func delay() throws -> Duration? { try app.sql { try $0.accountsUpkeep(at: app.time.now)?.garbageDelay } }
        #expect(try delay() == .seconds(86_400))
        #expect(try [erase(), erase(), erase()] == [500, 100, 0])
        #expect(try delay() == .zero)
        #expect(seqs(poll("?since=0")) == [301])
    }

    // MARK: Cost and concurrency

    /// However many events the application and its neighbours have.
    @Test func aPollReadsWhatItAnswers() throws {
        let meter = try ReadMeter(app)
        func rowsRead(_ query: String) throws -> Int {
            // Whoever opens a table reads its statistics, too.
            _ = poll(query, with: meter.client)
            let (answer, cost) = try meter.measure { poll(query, with: $0) }
            #expect(answer.status == 200)
            return cost.rowsRead
        }
        var costs: [[Int]] = []
        for count in [50, 2000] {
            for rp in [rp, try scene.register(confidential: true)] {
                let application = Application.ID(rawValue: Int64(rp.id))
                let notice = Event.Notice(
                    application: application, canonical: User.ID(rawValue: 1), reason: .codeReplay)
                try app.operate { transaction in
                    for _ in 0..<count { transaction.emit(.tokenRevoked(of: "1", notice)) }
                    transaction.emit(.userPromoted(User.ID(rawValue: 1), knownAs: "1", at: application))
                }
            }
            try app.sql { _ = try $0.query("ANALYZE TABLE webhook_outbox PERSISTENT FOR ALL") }
            let last = try app.count("SELECT last_seq FROM application_event_counters WHERE application_id = ?", rp.id)
            costs.append([
                try rowsRead("?since=\(last)"), try rowsRead("?since=\(last - 5)"), try rowsRead("?limit=5"),
                try rowsRead("?since=0&event_type=user.promoted&limit=1"),
                try rowsRead("?since=\(last)&event_type=user.promoted,webhook.test"),
            ])
        }
        for (few, many) in zip(costs[0], costs[1]) { #expect(many <= few + 5, "\(costs)") }
    }

    /// Commits of several writers interleave as they like. Whoever polls meanwhile sees each event once, in order, and
    /// never a number before the one it follows.
    @Test func aPollerMissesNothingUnderConcurrentCommits() throws {
        let (writers, rounds) = (4, 40)
        let other = try scene.register(confidential: true)
        let applications = [rp, other].map { Application.ID(rawValue: Int64($0.id)) }
        let clients = [rp, other].map { authorization(of: $0) }
        let (app, total) = (app, writers * rounds)
        let results = app.atOnce(writers + 2) { client, thread -> [Int] in
            if thread < writers {
                for round in 0..<rounds {
                    do {
                        try app.operate { transaction in
                            for application in applications {
                                transaction.emit(
                                    .userPromoted(
                                        User.ID(rawValue: Int64(thread * 1000 + round)), knownAs: "\(thread)",
                                        at: application))
                            }
                        }
                    } catch {
                        Issue.record(error)
                    }
                }
                return []
            }
            var (cursor, seen) = ("0", [Int]())
            let deadline = ContinuousClock.now + .seconds(60)
            while seen.count < total, ContinuousClock.now < deadline {
                let answer = client.send(
                    .get, "\(Self.path)?since=\(cursor)&limit=7", headers: [clients[thread - writers]])
                seen += answer["events"]?.array?.compactMap { $0["seq"]?.integer } ?? []
                cursor = answer["next_cursor"]?.string ?? cursor
            }
            return seen
        }
        for seen in results.suffix(2) { #expect(seen == Array(1...total)) }
    }
}
