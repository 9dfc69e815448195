import Glibc
import Synchronization
import TestSupport
import Testing
import Threads

@testable import Fetch

/// Many requests at once, and the address policy for each (accounts §3.5).
@Suite struct TransferPoolTests {
    private typealias Pool = TransferPool<Int>

    private static func pool(
        _ change: (inout Fetcher.Options) -> Void = { _ in }, resolve: (@Sendable (String) -> [IPAddress])? = nil
    ) throws -> Pool {
        var options = Fetcher.Options()
        options.allowsLoopbackHTTP = true
        options.connectTimeout = .seconds(20)
        options.timeout = .seconds(30)
        options.maximumSize = 4096
        options.cutsBody = true
        change(&options)
        return try Pool(options, resolve: resolve)
    }

    private static func url(_ text: String) throws -> OutboundURL { try OutboundURL(text, allowsLoopbackHTTP: true) }

    private static func address(_ text: String) throws -> IPAddress { try #require(IPAddress(text)) }

    /// Works until every request has ended.
    private func finish(_ pool: Pool) -> [Int: Result<Fetcher.Response, FetchError>] {
        var results: [Int: Result<Fetcher.Response, FetchError>] = [:]
        while pool.count > 0 {
            for completion in pool.poll(atMost: .seconds(5)) { results[completion.key] = completion.result }
        }
        return results
    }

    private func result(
        of url: String, _ pool: Pool
    ) throws -> Result<Fetcher.Response, FetchError> {
        pool.post(try Self.url(url), headers: [], body: Array("{}".utf8), as: 0)
        return try #require(finish(pool)[0])
    }

    private func reason(_ result: Result<Fetcher.Response, FetchError>) throws -> FetchError.Reason {
        try #require(throws: FetchError.self) { try result.get() }.reason
    }

    // MARK: Many at once

    /// The receiver answers none before it has them all.
    @Test func requestsAreUnderWayAtOnce() throws {
        let came = Monitor(0)
        let server = try LocalHTTPServer { request in
            came.change { $0 += 1 }
            _ = came.wait(atMost: .seconds(20)) { $0 >= 40 ? true : nil }
            return .response(status: 200, headers: [("x-path", request.path)], body: request.body)
        }
        let pool = try Self.pool()
        for key in 0..<40 {
            pool.post(
                try Self.url("\(server.url)/\(key)"), headers: [("X-Key", "\(key)")], body: Array("\(key)".utf8),
                as: key)
        }
        #expect(pool.count == 40)
        let results = finish(pool)
        #expect(results.count == 40)
        for (key, result) in results {
            let response = try result.get()
            #expect(response.header("x-path") == "/\(key)")
            #expect(response.body == Array("\(key)".utf8))
        }
        #expect(server.requests.allSatisfy { $0.method == "POST" && "/" + ($0.header("x-key") ?? "") == $0.path })
    }

    @Test func aSilentReceiverDelaysNobody() throws {
        let silent = try LocalHTTPServer { _ in .silence }
        let healthy = try LocalHTTPServer { _ in .response() }
        let pool = try Self.pool()
        pool.post(try Self.url(silent.url), headers: [], body: [], as: 1)
        pool.post(try Self.url(healthy.url), headers: [], body: [], as: 2)
        var first: [Int] = []
        while first.isEmpty { first = pool.poll(atMost: .seconds(5)).map(\.key) }
        #expect(first == [2])
        #expect(pool.abandon() == [1])
    }

    /// Nobody polls for longer than the request may take.
    @Test func anAbsenceIsNotTheReceiversFault() throws {
        let server = try LocalHTTPServer { _ in .silence }
        let pool = try Self.pool { $0.timeout = .seconds(10) }
        for isAbsent in [false, true] {
            let count = server.requests.count
            pool.post(try Self.url(server.url), headers: [], body: [], as: 0)
            var completions: [Pool.Completion] = []
            // Without this thread the request is not even sent.
            while server.requests.count == count, completions.isEmpty { completions = pool.poll(atMost: .zero) }
            if isAbsent { sleep(12) }
            while completions.isEmpty { completions = pool.poll(atMost: .seconds(5)) }
            #expect(try reason(completions[0].result) == .timeout)
            #expect(completions[0].isCallersFault == isAbsent)
        }
    }

    @Test func wakingEndsTheWait() throws {
        let pool = try Self.pool()
        let waker = pool.waker
        // Also before the wait begins.
        waker.wake()
        #expect(pool.poll(atMost: .seconds(600)).isEmpty)
        let thread = Thread { waker.wake() }
        #expect(pool.poll(atMost: .seconds(600)).isEmpty)
        thread.join()
    }

    @Test func abandonedRequestsHaveNoResult() throws {
        let silent = try LocalHTTPServer { _ in .silence }
        let pool = try Self.pool(resolve: { _ in
            sleepForever()
            return []
        })
        pool.post(try Self.url(silent.url), headers: [], body: [], as: 1)
        pool.post(try Self.url("https://rp.example/"), headers: [], body: [], as: 2)
        _ = pool.poll(atMost: .milliseconds(50))
        #expect(Set(pool.abandon()) == [1, 2])
        #expect(pool.count == 0)
    }

    // MARK: Answers

    @Test(arguments: [301, 302, 307, 308, 410, 500]) func everyStatusIsAnAnswer(status: Int) throws {
        let server = try LocalHTTPServer { _ in .response(status: status, headers: [("location", "/next")]) }
        #expect(try result(of: server.url, Self.pool()).get().status == status)
        #expect(server.requests.count == 1)
    }

    @Test func aHugeAnswerIsCut() throws {
        let server = try LocalHTTPServer { _ in .endless }
        let response = try result(of: server.url, Self.pool()).get()
        #expect(response.status == 200)
        #expect(response.body.count == 4096)
    }

    @Test func connectionsThatBreakAreFailures() throws {
        let server = try LocalHTTPServer { _ in .reset }
        #expect(try reason(result(of: server.url, Self.pool())) == .failed)
        #expect(try reason(result(of: "http://127.0.0.1:1/", Self.pool())) == .failed)
    }

    // MARK: Addresses

    /// The host is one that may be sent to; what answers for it changes after the check.
    @Test func theCheckedAddressIsTheOneThatIsUsed() throws {
        let checked = try LocalHTTPServer(address: "127.0.0.2") { _ in .response(status: 204) }
        let other = try LocalHTTPServer(port: checked.port) { _ in .response(status: 500) }
        let asked = Mutex(0)
        let addresses = [try Self.address("127.0.0.2"), try Self.address("127.0.0.1")]
        let pool = try Self.pool(resolve: { _ in
            let turn = asked.withLock { count in
                count += 1
                return count
            }
            return [addresses[turn > 1 ? 1 : 0]]
        })
        #expect(try result(of: "http://localhost:\(checked.port)/hook", pool).get().status == 204)
        #expect(asked.withLock { $0 } == 1)
        #expect(checked.requests.map { $0.header("host") } == ["localhost:\(checked.port)"])
        #expect(other.requests.isEmpty)
        // The next request is checked anew, so it may go elsewhere.
        #expect(try result(of: "http://localhost:\(checked.port)/hook", pool).get().status == 500)
    }

    @Test func anotherAddressIsTriedIfTheFirstRefuses() throws {
        let server = try LocalHTTPServer(address: "127.0.0.2") { _ in .response(status: 204) }
        let addresses = [try Self.address("127.0.0.3"), try Self.address("127.0.0.2")]
        let pool = try Self.pool(resolve: { _ in addresses })
        #expect(try result(of: "http://localhost:\(server.port)/", pool).get().status == 204)
    }

    /// One forbidden address among others is enough, and then not even a connection is made.
    @Test(arguments: [["127.0.0.1"], ["8.8.8.8", "127.0.0.1"], ["::1"], ["2606:4700:4700::1111", "::ffff:127.0.0.1"]])
    func nothingIsSentToForbiddenAddresses(_ texts: [String]) throws {
        let accepted = try LocalHTTPServer { _ in .response() }
        let addresses = try texts.map(Self.address)
        let pool = try Self.pool(resolve: { _ in addresses })
        #expect(try reason(result(of: "https://rp.example:\(accepted.port)/", pool)) == .forbidden)
        #expect(accepted.connections == 0)
    }

    @Test func namesWithoutAddressesAreUnresolved() throws {
        #expect(try reason(result(of: "https://rp.example/", Self.pool(resolve: { _ in [] }))) == .unresolved)
    }

    @Test func aResolverThatHangsIsGivenUp() throws {
        let pool = try Self.pool(
            { $0.connectTimeout = .milliseconds(50) },
            resolve: { _ in
                sleepForever()
                return []
            })
        #expect(try reason(result(of: "https://rp.example/", pool)) == .unresolved)
    }
}

/// Its thread is left behind.
private func sleepForever() { _ = Monitor(0).wait(atMost: .seconds(3600)) { _ in nil as Int? } }
