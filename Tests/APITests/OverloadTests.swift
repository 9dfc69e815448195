import Database
import Glibc
import HTTP
import Testing

@testable import API

/// Requests that have waited too long for a worker.
@Suite struct OverloadTests {
    let app: TestApp
    let client: Client

    init() throws {
        app = try TestApp()
        client = app.client()
    }

    private func request(
        _ method: Method, _ path: String, waited: Duration, headers: [(name: String, value: String)] = []
    ) -> Request {
        Request(
            method: method, path: path, headers: Headers(headers), requestID: "f00d", waited: waited,
            body: UntouchedBody())
    }

    /// A body that must not be read.
    private final class UntouchedBody: RequestBody {
        let length: Int? = 2

        func read(atMost limit: Int) throws(BodyError) -> [UInt8] {
            Issue.record("a request that is refused for its age was read")
            throw .incomplete
        }
    }

    @Test(arguments: [
        ("/api/v1/devices", refusal(503, "temporarily_unavailable")),
        (
            "/oauth/token",
            """
            503 {"error":"temporarily_unavailable","error_description":"Service Unavailable",\
            "error_uri":"https://id.example/oauth/errors#temporarily_unavailable","request_id":"f00d"}
            """
        ),
        ("/v1/ingest", refusal(503, "Service temporarily unavailable")),
    ])
    func whoComesTooLateIsRefusedInTheFormOfThePath(path: String, refusal: String) {
        let late = client.send(request(.post, path, waited: .milliseconds(1001)))
        #expect("\(late)" == refusal)
        #expect(late.header("Retry-After") == "1" && late.header("X-Request-Id") == "f00d")
        #expect(app.service.loadShedder.count == 1)
        #expect(app.statistics.openConnections.value == 0)
        let counted = app.service.metrics.snapshot().series
        #expect(counted[RequestMetrics.Key(route: path, method: "POST", status: 503)]?.count == 1)
    }

    @Test func aPersonSeesAPage() {
        let late = client.send(
            request(.get, "/oauth/login", waited: .seconds(2), headers: [("accept", "text/html")]))
        #expect(late.status == 503 && late.header("Retry-After") == "1")
        #expect(late.header("Content-Type") == "text/html; charset=utf-8" && late.text.contains("f00d"))
    }

    @Test func whoIsInTimeIsServed() {
        let answer = client.send(Request(method: .get, path: "/api/v1/me", waited: .seconds(1)))
        #expect("\(answer)" == refusal(401, "invalid_token"))
        #expect(app.service.loadShedder.count == 0)
    }

    @Test func whoWaitedForARestartIsServed() {
        let restarted = LoadShedder(limit: .seconds(60))
        restarted.beginServing()
        #expect(!restarted.sheds(request(.get, "/", waited: .seconds(61)), app.log.logger))
        #expect(restarted.count == 0)

        let serving = LoadShedder(limit: .milliseconds(1))
        serving.beginServing()
        usleep(2000)
        #expect(serving.sheds(request(.get, "/", waited: .seconds(61)), app.log.logger))
    }

    @Test func withoutALimitNobodyIsRefused() {
        let shedder = LoadShedder(limit: nil)
        #expect(!shedder.sheds(request(.get, "/", waited: .seconds(3600)), app.log.logger))
        #expect(shedder.count == 0)
    }

    @Test func theLogSaysItOnceAndNotForEach() throws {
        for _ in 0..<100 { _ = client.send(request(.get, "/api/v1/me", waited: .seconds(2))) }
        #expect(app.service.loadShedder.count == 100)
        let lines = app.log.lines.filter { $0.hasPrefix("warning ") }
        #expect(lines.count == 1)
        #expect(try #require(lines.first).contains(#""refused": 1"#))
    }
}
