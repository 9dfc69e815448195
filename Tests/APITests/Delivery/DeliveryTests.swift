import API
import Accounts
import Database
import Fetch
import HTTP
import JSON
import MariaDB
import OpenSSL
import Synchronization
import TestSupport
import Testing
import Text
import Threads
import Time

/// What receivers get, and what becomes of an event that they do not take (accounts §3.4).
@Suite struct DeliveryTests {
    private let scene: DeliveryScene

    init() throws { scene = try DeliveryScene() }

    private var now: Timestamp { scene.app.time.now }

    // MARK: What is sent

    @Test func anEventIsSentAsItIsAndSigned() throws {
        let receiver = try scene.receiver(status: 204)
        let id = try scene.event(for: receiver)
        #expect(try scene.dispatch() == 1)

        let request = try #require(receiver.server.requests.first)
        #expect(request.method == "POST" && request.path == "/hook")
        #expect(request.body == DeliveryScene.payload(id))
        let fixed = [
            "content-type": "application/json", "user-agent": "merganser-webhook/1", "x-logi-event-id": id,
            "x-logi-event-type": "consent.revoked", "x-logi-event-seq": "1", "x-logi-delivery-attempt": "1",
            "webhook-id": id, "webhook-timestamp": "\(now.seconds)",
        ]
        for (name, value) in fixed { #expect(request.header(name) == value, "\(name)") }
        let secret = receiver.key.secret
        let mac = hmacSHA256(key: Array(secret.utf8), request.body).hexadecimal
        #expect(request.header("x-logi-signature") == "t=\(now.seconds),kid=\(receiver.key.keyID),v1=\(mac)")
        let key = try #require(Base64.decode(secret.dropFirst(6).utf8))
        let message = Array("\(id).\(now.seconds).".utf8) + request.body
        #expect(request.header("webhook-signature") == "v1,\(Base64.encode(hmacSHA256(key: key, message)))")

        #expect(try scene.row(id) == .init(attempts: 1, next: nil, isDelivered: true))
        #expect(try scene.attempts(receiver.id) == ["1 204 -"])
        #expect(scene.statistics.snapshot.webhooks.attempts[.delivered] == 1)
        #expect(try scene.dispatch() == 0)
    }

    @Test func everyActiveKeySignsTheNewestFirst() throws {
        let server = try LocalHTTPServer { _ in .response() }
        let oauth = try OAuthScene(scene.app)
        let developer = try oauth.developer()
        let created = oauth.create(oauth.members(["webhook_url": .string(server.url)]), by: developer)
        let clientID = try #require(created["client_id"]?.string)
        var keys = [created["webhook_key"]]
        for _ in 0..<2 {
            scene.app.time.advance(by: .seconds(1))
            let path = "\(OAuthScene.applications)/\(clientID)/webhook_keys"
            keys.append(oauth.client.send(.post, path, token: developer.token)["webhook_key"])
        }
        let db = try scene.app.database.connect()
        let retired = try #require(keys[1]?["kid"]?.string)
        try db.execute("UPDATE webhook_keys SET retired_at = ? WHERE kid = ?", now, retired)

        let application = try scene.app.count("SELECT id FROM applications WHERE client_id = ?", clientID)
        let id = try scene.event(for: application)
        try scene.dispatch()
        let request = try #require(server.requests.first)
        let message = Array("\(id).\(now.seconds).".utf8) + request.body
        let signatures = try [keys[2], keys[0]].map { key in
            let secret = try #require(key?["secret"]?.string)
            let bytes = try #require(Base64.decode(secret.dropFirst(6).utf8))
            return "v1," + Base64.encode(hmacSHA256(key: bytes, message))
        }
        #expect(request.header("webhook-signature") == signatures.joined(separator: " "))
        let newest = try #require(keys[2]?["kid"]?.string)
        #expect(request.header("x-logi-signature")?.contains(",kid=\(newest),v1=") == true)
    }

    @Test func onlyActiveApplicationsWithAnURLAreSentTo() throws {
        let receivers = try ["suspended", "pending"].map { status in
            let receiver = try scene.receiver()
            try scene.app.database.connect().execute(
                "UPDATE applications SET status = ? WHERE id = ?", status, receiver.id)
            return receiver
        }
        let silent = try scene.receiver()
        try scene.app.database.connect().execute("UPDATE applications SET webhook_url = NULL WHERE id = ?", silent.id)
        for receiver in receivers + [silent] { try scene.event(for: receiver) }
        #expect(try scene.dispatch() == 0)
        #expect((receivers + [silent]).allSatisfy { $0.server.connections == 0 })
    }

    // MARK: Failures

    @Test(
        arguments: [
            (LocalHTTPServer.Reply.response(status: 500), "500 http_500"),
            (.response(status: 302, headers: [("location", "/other")]), "302 http_302"),
            (.response(status: 404), "404 http_404"),
            (.reset, "- connection_failed"),
            (.raw(Array("garbage".utf8)), "- connection_failed"),
            (.silence, "- timeout"),
            (
                .raw(Array(("HTTP/1.1 200 -\r\n" + String(repeating: "x-a: b\r\n", count: 20_000)).utf8)),
                "- answer_too_large"
            ),
        ] as [(LocalHTTPServer.Reply, String)])
    func everythingElseThan2xxIsAFailure(reply: LocalHTTPServer.Reply, attempt: String) throws {
        let receiver = try scene.receiver { _ in reply }
        let id = try scene.event(for: receiver)
        try scene.dispatch { $0.transfer.timeout = .seconds(5) }
        #expect(try scene.attempts(receiver.id) == ["1 \(attempt)"])
        let row = try scene.row(id)
        #expect(row.attempts == 1 && !row.isDelivered && !row.isDead)
        #expect(row.reason == String(attempt.split(separator: " ")[1]))
        #expect(receiver.server.requests.count == 1)
    }

    /// The status has come, and the rest of the answer says nothing.
    @Test func anEndlessAnswerIsCut() throws {
        let receiver = try scene.receiver { _ in .endless }
        let id = try scene.event(for: receiver)
        try scene.dispatch()
        #expect(try scene.row(id).isDelivered)
    }

    /// After each failure another event is taken, so that the breaker stays closed.
    @Test func waitsGrowUntilTheLastAttempt() throws {
        let good = Mutex<Set<String>>([])
        let receiver = try scene.receiver { request in
            good.withLock { $0.contains(request.header("x-logi-event-id") ?? "") }
                ? .response() : .response(status: 500)
        }
        let id = try scene.event(for: receiver)
        let minutes: [Double] = [0.5, 1, 5, 15, 30, 60, 120, 240, 360, 600, 720, 720, 1440]
        for (index, wait) in minutes.enumerated() {
            try scene.dispatch()
            let row = try scene.row(id)
            #expect(row.attempts == index + 1)
            let next = try #require(row.next)
            #expect((wait * 48...wait * 72).contains((next - now) / .seconds(1)), "wait \(index + 1)")
            scene.app.time.advance(by: next - now - .milliseconds(1))
            let other = try scene.event(for: receiver)
            good.withLock { _ = $0.insert(other) }
            #expect(try scene.dispatch() == 1)
            scene.app.time.advance(by: .milliseconds(1))
        }
        try scene.dispatch()
        #expect(try scene.row(id) == .init(attempts: 14, next: nil, isDead: true, reason: "http_500"))
        #expect(scene.statistics.snapshot.webhooks.dead == 1)
        let sent = receiver.server.requests.filter { $0.header("x-logi-event-id") == id }
        #expect(sent.map { $0.header("x-logi-delivery-attempt") } == (1...14).map { "\($0)" })
        #expect(sent.allSatisfy { $0.body == DeliveryScene.payload(id) })
        // The time of the attempt, so that late ones are inside the receiver's window, too.
        #expect(Set(sent.map { $0.header("webhook-timestamp") }).count == 14)
    }

    @Test(
        arguments: [
            (429, "90", 90...90), (503, "90", 90...90), (500, "90", 24...36), (429, "1", 24...36),
            (429, "soon", 24...36),
            (429, "7200", 3600...3600), (503, "99999999999999999999", 3600...3600),
            (503, "Tue, 12 May 2026 07:10:00 GMT", 599...600), (429, "Mon, 11 May 2026 07:10:00 GMT", 24...36),
        ] as [(Int, String, ClosedRange<Double>)])
    func receiversMayAskForLongerWaits(status: Int, retryAfter: String, seconds: ClosedRange<Double>) throws {
        let receiver = try scene.receiver(status: status, headers: [("Retry-After", retryAfter)])
        let id = try scene.event(for: receiver)
        try scene.dispatch()
        let wait = try #require(try scene.row(id).next) - now
        #expect(seconds.contains(wait / .seconds(1)), "\(wait)")
    }

    // MARK: Addresses

    @Test func nothingIsSentToForbiddenAddresses() throws {
        let server = try LocalHTTPServer { _ in .response() }
        let application = Int(try scene.register(url: "https://1.1.1.1/").application.id.rawValue)
        let id = try scene.event(for: application)
        let db = try scene.app.database.connect()
        try db.execute(
            "UPDATE applications SET webhook_url = ? WHERE id = ?", "https://rp.example:\(server.port)/", application)
        let loopback = try #require(IPAddress("127.0.0.1"))
        try scene.dispatch { $0.resolve = { _ in [loopback] } }
        #expect(try scene.row(id).reason == "ssrf_blocked")
        #expect(server.connections == 0)
        // What was registered in development, in production.
        try db.execute("UPDATE applications SET webhook_url = ? WHERE id = ?", server.url, application)
        scene.app.time.advance(by: .seconds(60))
        try scene.dispatch { $0.transfer.allowsLoopbackHTTP = false }
        #expect(try scene.attempts(application) == ["1 - ssrf_blocked", "2 - ssrf_blocked"])
        #expect(server.connections == 0)
        #expect(scene.statistics.snapshot.webhooks.attempts[.blocked] == 2)
    }

    // MARK: Endpoints that fail

    @Test func aReceiverThatIsGoneIsDisabled() throws {
        let receiver = try scene.receiver(status: 410)
        let id = try scene.event(for: receiver)
        try scene.dispatch()
        #expect(try scene.isDisabled(receiver))
        #expect(try scene.row(id).attempts == 1)
        #expect(
            try scene.app.count(
                """
                SELECT COUNT(*) FROM audit_log WHERE action = 'webhook.disabled' AND actor = ?
                AND JSON_VALUE(details, '$.client_id') = ? AND JSON_VALUE(details, '$.failure_reason') = 'http_410'
                """, "application:\(receiver.id)", receiver.clientID) == 1)
        #expect(scene.statistics.snapshot.disabledEndpoints == 1)
        try scene.event(for: receiver)
        scene.app.time.advance(by: .seconds(86_400))
        #expect(try scene.dispatch() == 0)
        #expect(receiver.server.requests.count == 1)
    }

    @Test func fiveFailuresOpenTheBreakerUntilAProbeIsTaken() throws {
        let isHealthy = Atomic(false)
        let receiver = try scene.receiver { _ in
            .response(status: isHealthy.load(ordering: .acquiring) ? 200 : 500)
        }
        let ids = try (0..<8).map { _ in try scene.event(for: receiver) }
        #expect(try scene.dispatch() == 5)
        #expect(try ids.map { try scene.row($0).attempts }.reduce(0, +) == 5)
        #expect(try scene.dispatch() == 0)

        // Each probe takes another event, and none spends an attempt.
        for probe in 1...3 {
            scene.app.time.advance(by: .seconds(59))
            #expect(try scene.dispatch() == 0)
            scene.app.time.advance(by: .seconds(1))
            #expect(try scene.dispatch() == 1)
            #expect(receiver.server.requests.count == 5 + probe)
        }
        #expect(Set(receiver.events).count > 5)
        #expect(try ids.map { try scene.row($0).attempts }.reduce(0, +) == 5)

        isHealthy.store(true, ordering: .releasing)
        scene.app.time.advance(by: .seconds(120))
        try scene.dispatch()
        #expect(try ids.allSatisfy { try scene.row($0).isDelivered })
        #expect(try scene.app.count("SELECT COUNT(*) FROM webhook_failures") == 0)
    }

    @Test func fiveDaysOfNothingButFailuresDisable() throws {
        let receiver = try scene.receiver(status: 500)
        try scene.event(for: receiver)
        var days = 0.0
        while days < 4.9 {
            try scene.dispatch()
            #expect(try !scene.isDisabled(receiver))
            scene.app.time.advance(by: .seconds(8640))
            days += 0.1
        }
        scene.app.time.advance(by: .seconds(86_400))
        try scene.dispatch()
        #expect(try scene.isDisabled(receiver))
    }

    @Test func anotherURLIsAnotherEndpoint() throws {
        let (broken, healthy) = (try scene.receiver(status: 500), try LocalHTTPServer { _ in .response() })
        for _ in 0..<6 { try scene.event(for: broken) }
        try scene.dispatch()
        var changes = ApplicationChanges()
        changes.webhookURL = .some("\(healthy.url)/new")
        let accounts = scene.app.service.accounts
        let approved = try ApprovedChanges(changes, by: accounts.settings.applicationRules)
        _ = try Accounts.write(Database(scene.app.database.options), from: Origin(requestID: "", address: "")) {
            try $0.setApplication(broken.clientID, approved)
        }
        try scene.dispatch()
        #expect(healthy.requests.count == 1, "the one that had not failed")
    }
}
