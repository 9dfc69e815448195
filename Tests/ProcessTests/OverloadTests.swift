import Foundation
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
            "MERGANSER_THREADS": "1", "MERGANSER_QUEUE_LIMIT_MILLISECONDS": "1000",
            "MERGANSER_SOCKET": front.run.file("merganser.sock"),
        ])
        try installation.directory.link("fastcgi.sock", to: front.run.file("merganser.sock"))
    }

    @Test func whatHasBegunIsServedAndWhatWaitsTooLongIsRefused() throws {
        let server = try installation.readyServer()
        let (pak, _) = try installation.bootstrap("00000000-0000-0000-0000-000000000001")
        let holder = try installation.database.connect()
        func ask(_ method: String, _ body: String = "") throws -> HTTPConnection {
            let connection = try front.connect()
            let headers = "Host: localhost\r\nAuthorization: Bearer \(pak)\r\nContent-Length: \(body.utf8.count)\r\n"
            try connection.send(Array("\(method) /api/v1/me HTTP/1.1\r\n\(headers)\r\n\(body)".utf8))
            return connection
        }

        // The only worker waits for a row, and tries again when it did so in vain.
        try holder.executeScript("START TRANSACTION; SELECT id FROM users FOR UPDATE")
        let first = try ask("PATCH", #"{"nickname":"Sesame"}"#)
        try server.wait(for: "the worker") { try metric("merganser_requests_in_flight") == 1 }
        let second = try ask("GET")
        try server.wait(for: "nginx to hand the second request on") { try waitingConnections() == 1 }
        // From here on it waits for longer than the limit, for certain.
        usleep(1_100_000)
        #expect(try installation.control("/healthz")?.status == 200)
        try holder.rollback()
        #expect(try first.receiveAnswer().status == 200)
        let refused = try second.receiveAnswer()
        #expect(refused.status == 503 && refused.header("retry-after") == "1")
        #expect(String(decoding: refused.body, as: UTF8.self) == #"{"error":"temporarily_unavailable"}"#)
        #expect(try metric("merganser_requests_shed_total") == 1)
        #expect(try server.logged("overloaded: requests that waited too long for a worker are refused"))
        try server.wait(for: "an answer in time") { try ask("GET").receiveAnswer().status == 200 }
    }

    /// How many connections no worker has accepted yet. The kernel lists them under the listener's path, without an
    /// inode (proc_net(5)).
    private func waitingConnections() throws -> Int {
        let file = try FileHandle(forReadingFrom: URL(filePath: "/proc/net/unix"))
        // It comes in several parts, which String(contentsOfFile:) does not expect.
        let text = try String(decoding: file.readToEnd() ?? Data(), as: UTF8.self)
        return text.split(separator: "\n").count { line in
            let fields = line.split(separator: " ")
            return fields.count == 8 && fields[6] == "0" && fields[7].hasPrefix(front.run.file("merganser.sock"))
        }
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
