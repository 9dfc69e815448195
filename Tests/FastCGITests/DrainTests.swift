import Foundation
import TestSupport
import Testing

/// The end of an instance, request by request.
@Suite struct DrainTests {
    @Test func whatIsUnderWayIsAnsweredAndWhatIsKeptIsServed() throws {
        let fixture = try EchoFixture(threads: 2)
        var kept: FastCGIClient? = try fixture.server.connect()
        #expect(try kept?.ask()?.status == 200)
        let late = try fixture.server.connect()
        try late.send(FastCGIClient.request("GET", "/late/300", keep: false))
        fixture.server.process.terminate()
        try fixture.server.wait(forLine: "draining")
        #expect(try kept?.ask()?.status == 200)
        #expect(try late.receiveAnswer()?.status == 200)
        #expect(try kept?.ask()?.status == 200)
        #expect(fixture.server.process.isRunning)
        kept = nil
        #expect(try fixture.server.waitForEnd() == Drained(requests: 4, cut: 0, aborted: 0))
        #expect(access(fixture.server.path, F_OK) != 0, "the path is free")
    }

    @Test func whoWaitsInTheQueueIsServed() throws {
        let fixture = try EchoFixture(threads: 1)
        let busy = try fixture.server.connect()
        try busy.send(FastCGIClient.request("GET", "/late/300", keep: false))
        let waiting = try (0..<50).map { _ in try fixture.server.connect() }
        for client in waiting { try client.send(FastCGIClient.request("GET", "/", keep: false)) }
        fixture.server.process.terminate()
        for client in [busy] + waiting { #expect(try client.receiveAnswer()?.status == 200) }
        #expect(try fixture.server.waitForEnd() == Drained(requests: 51, cut: 0, aborted: 0))
    }

    @Test func theLimitEndsIdleConnections() throws {
        let fixture = try EchoFixture(threads: 2, drainLimit: .milliseconds(300))
        let kept = try fixture.server.connect()
        #expect(try kept.ask()?.status == 200)
        #expect(try fixture.server.end() == Drained(requests: 1, cut: 1, aborted: 0))
        #expect(try kept.receiveEnd())
    }

    @Test func whatIsUnderWayAtTheLimitIsAnswered() throws {
        let fixture = try EchoFixture(threads: 2, drainLimit: .seconds(1))
        let kept = try fixture.server.connect()
        #expect(try kept.ask()?.status == 200)
        let slow = try fixture.server.connect()
        try slow.send(FastCGIClient.request("GET", "/late/12000"))
        fixture.server.process.terminate()
        #expect(try slow.receiveAnswer()?.status == 200)
        #expect(try slow.receiveEnd(), "its connection is not kept")
        #expect(try fixture.server.waitForEnd() == Drained(requests: 2, cut: 1, aborted: 0))
        #expect(try kept.receiveEnd())
    }

    @Test func whoIsSilentAtTheLimitHoldsItUpNoLongerThanAtOtherTimes() throws {
        let fixture = try EchoFixture(threads: 2, receiveTimeout: .seconds(3), drainLimit: .seconds(1))
        let stuck = try fixture.server.connect()
        try stuck.send(FastCGIClient.beginRequest())
        #expect(try fixture.server.end() == Drained(requests: 0, cut: 0, aborted: 1))
    }

    @Test func signalsCutNoRequestShort() throws {
        let fixture = try EchoFixture(threads: 1)
        let request = FastCGIClient.request("POST", "/", body: noise(1000))
        let client = try fixture.server.connect()
        for start in stride(from: 0, to: request.count, by: 50) {
            try client.send(Array(request[start..<min(start + 50, request.count)]))
            fixture.server.process.send(SIGUSR1)
            fixture.server.process.send(SIGHUP)
            if start == 500 { fixture.server.process.terminate() }
        }
        #expect(try client.receiveAnswer()?.body == noise(1000))
    }

    @Test func aSharedListenerThatBlocksHoldsNobodyUp() throws {
        let listener = try Listener()
        let server = try EchoServer(inheriting: listener.path, socket: listener.descriptor, threads: 2)
        #expect(try server.connect().ask()?.status == 200)
        // As systemd does when it starts the other instance.
        #expect(fcntl(listener.descriptor, F_SETFL, 0) == 0)
        // Idle workers look at a shared listener once a second, and block in it if they may. One that has gone to sleep three
        // times has looked: the others may have been after an answer it still gave, and for a lock.
        let before = try timesAsleep(server.process.pid)
        try server.process.wait(for: "both workers to look") {
            try timesAsleep(server.process.pid).count { $0.value >= before[$0.key, default: 0] + 3 } >= 2
        }
        #expect(try server.end() == Drained(requests: 1, cut: 0, aborted: 0))
    }

    /// How often each thread of a process has started to wait (proc(5)), by thread id.
    private func timesAsleep(_ pid: pid_t) throws -> [String: Int] {
        let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")
        return try Dictionary(
            uniqueKeysWithValues: threads.map { thread in
                let status = try String(contentsOfFile: "/proc/\(pid)/task/\(thread)/status", encoding: .utf8)
                let count = try #require(status.firstMatch(of: /\nvoluntary_ctxt_switches:\t(\d+)/)).1
                return (thread, try #require(Int(count)))
            })
    }
}
