import Glibc
import JSON
import TestSupport

extension Installation {
    /// Sends a request to a server over a new connection.
    func ask(
        _ method: String = "GET", _ path: String, headers: [(String, String)] = [], body: String? = nil,
        at socket: String = "fastcgi.sock"
    ) throws -> FastCGIClient.Answer {
        let client = try FastCGIClient(directory.file(socket))
        let answer = try client.ask(method, path, headers: headers, body: body.map { Array($0.utf8) }, keep: false)
        guard let answer else { throw TestSupportError("no answer to \(method) \(path)") }
        return answer
    }

    /// Sends a request to the control socket; nil if there is none.
    func control(_ path: String, of socket: String = "control.sock") throws -> (status: Int, body: JSONValue)? {
        guard exists(socket) else { return nil }
        let answer = try ask("GET", path, at: socket)
        return (answer.status, try JSONValue(json: answer.body))
    }

    /// The names of the checks that `/readyz` reports as failed; empty if ready, nil if there is no control socket.
    func missing(of socket: String = "control.sock") throws -> [String]? {
        try control("/readyz", of: socket)?.body["missing"]?.array?.compactMap { $0["check"]?.string }
    }

    /// A running server that is ready.
    func readyServer(setting variables: [String: String] = [:], socket: Int32? = nil) throws -> ChildProcess {
        let server = try server(setting: variables, socket: socket)
        let path = variables["MERGANSER_CONTROL_SOCKET"] ?? directory.file("control.sock")
        let name = String(path.split(separator: "/").last ?? "")
        try server.wait(for: "readiness") { try server.logged("serving") && missing(of: name) == [] }
        return server
    }

    func exists(_ name: String) -> Bool { access(directory.file(name), F_OK) == 0 }

    /// Registers a phone; its PAK and device secret.
    func bootstrap(_ uuid: String, at socket: String = "fastcgi.sock") throws -> (pak: String, secret: String) {
        let answer = try ask(
            "POST", "/api/v1/devices", body: #"{"device_uuid":"\#(uuid)","platform":"ios"}"#, at: socket)
        let body = try JSONValue(json: answer.body)
        guard let pak = body["access_token"]?.string, let secret = body["device_secret"]?.string else {
            throw TestSupportError("\(answer.status) \(body)")
        }
        return (pak, secret)
    }
}

extension ChildProcess {
    /// The server's log. Every line is JSON.
    var log: [JSONValue] {
        get throws { try errorOutput.split(separator: "\n").map { try JSONValue(json: Array($0.utf8)) } }
    }

    func logged(_ message: String) throws -> Bool { try log.contains { $0["message"]?.string == message } }
}

/// A listening unix socket, as a service manager holds one.
final class Listener: Sendable {
    let descriptor: Int32

    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard withUnixAddress(path, { bind(descriptor, $0, $1) }) == 0, listen(descriptor, 128) == 0 else {
            throw TestSupportError("listen on \(path)", code: errno)
        }
    }

    deinit { close(descriptor) }
}

/// Receives a service's notifications to its manager (sd_notify(3)).
final class NotifySocket: Sendable {
    private let descriptor: Int32

    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard withUnixAddress(path, { bind(descriptor, $0, $1) }) == 0 else {
            throw TestSupportError("bind \(path)", code: errno)
        }
        var timeout = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    /// Reads messages until one has this line.
    ///
    /// - Returns: the lines of all messages.
    func wait(for line: String) throws -> [String] {
        var lines: [String] = []
        while !lines.contains(line) {
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { throw TestSupportError("no \(line) after \(lines)") }
            lines += String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n").map(String.init)
        }
        return lines
    }
}

private func withUnixAddress<T>(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> T) -> T {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
    return withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
}
