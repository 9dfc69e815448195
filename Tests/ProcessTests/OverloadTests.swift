import Glibc
import JSON
import MariaDB
import TestSupport
import Testing

/// A server with more requests than workers, behind the shipped nginx.
@Suite struct OverloadTests {
    private let front: Front
    private let installation: Installation

    init() throws {
        front = try Front()
        installation = try Installation([
            "MERGANSER_THREADS": "1", "MERGANSER_QUEUE_LIMIT_MILLISECONDS": "100",
            "MERGANSER_SOCKET": front.run.file("merganser.sock"),
        ])
        try installation.directory.link("fastcgi.sock", to: front.run.file("merganser.sock"))
    }

    @Test func whatHasBegunIsServedAndWhatWaitsTooLongIsRefused() throws {
        let server = try installation.readyServer()
        let (pak, _) = try installation.bootstrap("00000000-0000-0000-0000-000000000001")
        let lock = try installation.database.connect()
        func ask() throws -> HTTPConnection {
            let connection = try front.connect()
            try connection.send(
                Array("GET /api/v1/me HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(pak)\r\n\r\n".utf8))
            return connection
        }

        // When nginx hands the second request on is its own affair, so it may come too late to be too late.
        var refused: HTTPConnection.Answer?
        for _ in 0..<20 where refused == nil {
            // The only worker waits for the table, far longer than the limit for those that wait for it.
            try lock.executeScript("LOCK TABLES paks WRITE")
            let first = try ask()
            try server.wait(for: "the worker") { try metric("merganser_requests_in_flight") == 1 }
            let second = try ask()
            usleep(300_000)
            #expect(try installation.control("/healthz")?.status == 200)
            try lock.executeScript("UNLOCK TABLES")
            #expect(try first.receiveAnswer().status == 200)
            let answer = try second.receiveAnswer()
            if answer.status != 200 { refused = answer }
        }
        #expect(refused?.status == 503 && refused?.header("retry-after") == "1")
        #expect(refused.map { String(decoding: $0.body, as: UTF8.self) } == #"{"error":"temporarily_unavailable"}"#)
        #expect(try metric("merganser_requests_shed_total") == 1)
        #expect(try server.logged("overloaded: requests that waited too long for a worker are refused"))
        #expect(try ask().receiveAnswer().status == 200)
    }

    /// A sample without labels.
    private func metric(_ name: String) throws -> Int? {
        let answer = try installation.ask("GET", "/metrics", at: "control.sock")
        let line = String(decoding: answer.body, as: UTF8.self).split(separator: "\n").first {
            $0.hasPrefix("\(name) ")
        }
        return line.flatMap { Int($0.dropFirst(name.utf8.count + 1)) }
    }
}
