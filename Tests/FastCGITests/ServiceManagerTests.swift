import FastCGI
import Foundation
import TestSupport
import Testing

/// The notifications of an instance to the service manager that started it (sd_notify(3)).
@Suite struct ServiceManagerTests {
    /// Receives notifications as systemd does.
    private struct Manager {
        /// As in `NOTIFY_SOCKET`.
        let name: String
        private let descriptor: Int32

        /// - Parameter name: a path, or `@` and an abstract name.
        init(_ name: String) throws {
            self.name = name
            descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            var limit = timeval(tv_sec: 20, tv_usec: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            guard bindUnix(descriptor, name) == 0 else { throw TestSupportError("bind \(name)", code: errno) }
        }

        func next() throws -> String {
            var buffer = [UInt8](repeating: 0, count: 1024)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count >= 0 else { throw TestSupportError("no notification", code: errno) }
            return String(decoding: buffer[..<count], as: UTF8.self)
        }

        func end() { close(descriptor) }
    }

    @Test(arguments: [true, false]) func startLifeAndEndAreTold(isAbstract: Bool) throws {
        let directory = try TemporaryDirectory()
        let manager = try Manager((isAbstract ? "@" : "") + directory.file("notify"))
        defer { manager.end() }
        let server = try EchoServer(
            at: directory.file("echo.sock"),
            environment: ["NOTIFY_SOCKET": manager.name, "WATCHDOG_USEC": "100000"])
        #expect(try manager.next() == "READY=1")
        for _ in 0..<3 { #expect(try manager.next() == "WATCHDOG=1") }
        server.process.terminate()
        var message = try manager.next()
        while message == "WATCHDOG=1" { message = try manager.next() }
        #expect(message == "STOPPING=1")
        _ = try server.waitForEnd()
    }

    @Test(arguments: [
        ["WATCHDOG_USEC": "1000", "WATCHDOG_PID": "1"], ["WATCHDOG_USEC": "0"], ["WATCHDOG_USEC": "x"], [:],
    ])
    func nobodyIsToldWhoDidNotAsk(_ environment: [String: String]) throws {
        let directory = try TemporaryDirectory()
        let manager = try Manager(directory.file("notify"))
        defer { manager.end() }
        let server = try EchoServer(
            at: directory.file("echo.sock"),
            environment: environment.merging(["NOTIFY_SOCKET": manager.name]) { $1 })
        #expect(try manager.next() == "READY=1")
        // A hundred times the interval that was not meant for it.
        #expect(try server.connect().ask("GET", "/late/100", keep: false)?.status == 200)
        try server.end()
        #expect(try manager.next() == "STOPPING=1")
    }

    @Test func aMissingManagerIsNoTrouble() throws {
        let directory = try TemporaryDirectory()
        let server = try EchoServer(
            at: directory.file("echo.sock"), environment: ["NOTIFY_SOCKET": directory.file("nobody")])
        #expect(try server.connect().ask(keep: false)?.status == 200)
        try server.end()
    }
}
