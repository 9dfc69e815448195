import Glibc
import Threads

/// A small HTTP server on its own loopback port, with one thread for each connection, for tests of outgoing requests.
package final class LocalHTTPServer: Sendable {
    package struct Request: Sendable {
        package var method: String
        package var path: String
        /// Names in lower case.
        package var headers: [(name: String, value: String)]
        package var body: [UInt8]

        package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
    }

    package enum Reply: Sendable {
        case response(status: Int = 200, headers: [(String, String)] = [], body: [UInt8] = [])
        /// These bytes, then the end of the connection.
        case raw([UInt8])
        /// A valid head, then body bytes until the client closes the connection.
        case endless
        /// The connection is reset.
        case reset
        /// Nothing, until the client gives up.
        case silence
    }

    package let address: String
    package let port: UInt16
    package var url: String { "http://\(address):\(port)" }

    private let listener: Int32
    private let state = Monitor(State())
    private let respond: @Sendable (Request) -> Reply
    private let keepsRequests: Bool

    private struct State {
        var requests: [Request] = []
        var connections = 0
    }

    /// - Parameters:
    ///   - address: one of 127.0.0.0/8.
    ///   - port: 0 for any free port.
    ///   - keepsRequests: false if there are too many for `requests`.
    package init(
        address: String = "127.0.0.1", port: UInt16 = 0, keepsRequests: Bool = true,
        _ respond: @escaping @Sendable (Request) -> Reply
    ) throws {
        self.respond = respond
        self.keepsRequests = keepsRequests
        self.address = address
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_addr.s_addr = inet_addr(address)
        place.sin_port = port.bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &place) { [listener] address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && listen(listener, 128) == 0 && getsockname(listener, $0, &size) == 0
            }
        }
        guard isListening else { throw LocalHTTPServerError(message: String(cString: strerror(errno))) }
        self.port = UInt16(bigEndian: place.sin_port)
        let accepting = Thread { [listener, weak self] in
            while case let connection = accept(listener, nil, nil), connection >= 0 {
                guard let self else {
                    close(connection)
                    break
                }
                Thread { self.serve(connection) }.detach()
            }
            close(listener)
        }
        accepting.detach()
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    /// The requests so far, in order.
    package var requests: [Request] { state.withLock { $0.requests } }

    /// How many connections were accepted so far.
    package var connections: Int { state.withLock { $0.connections } }

    /// Waits until this many requests have come; false if they do not in time.
    package func waitForRequests(_ count: Int, atMost time: Duration = .seconds(60)) -> Bool {
        state.wait(atMost: time) { $0.requests.count >= count ? true : nil } ?? false
    }

    private func serve(_ connection: Int32) {
        defer { close(connection) }
        state.change { $0.connections += 1 }
        guard let request = read(connection) else { return }
        if keepsRequests { state.change { $0.requests.append(request) } }
        switch respond(request) {
        case .response(let status, let headers, let body):
            var head = "HTTP/1.1 \(status) -\r\nconnection: close\r\ncontent-length: \(body.count)\r\n"
            for (name, value) in headers { head += "\(name): \(value)\r\n" }
            _ = write(Array((head + "\r\n").utf8) + body, connection)
        case .raw(let bytes): _ = write(bytes, connection)
        case .endless:
            guard write(Array("HTTP/1.1 200 -\r\n\r\n".utf8), connection) else { return }
            let part = [UInt8](repeating: UInt8(ascii: " "), count: 4096)
            while write(part, connection) {}
        case .reset:
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(connection, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        case .silence:
            var byte: UInt8 = 0
            _ = recv(connection, &byte, 1, 0)
        }
    }

    private func read(_ connection: Int32) -> Request? {
        var bytes: [UInt8] = []
        let end = Array("\r\n\r\n".utf8)
        var body: Int?
        while body == nil {
            guard receive(&bytes, connection) else { return nil }
            body = bytes.indices.first { bytes[$0...].starts(with: end) }.map { $0 + end.count }
        }
        guard let body else { return nil }
        let lines = String(decoding: bytes[..<body], as: UTF8.self).split(separator: "\r\n")
        let words = lines[0].split(separator: " ")
        guard words.count == 3 else { return nil }
        let headers = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (name: parts[0].lowercased(), value: String(parts.last?.drop { $0 == " " } ?? ""))
        }
        var request = Request(method: String(words[0]), path: String(words[1]), headers: headers, body: [])
        let length = request.header("content-length").flatMap(Int.init) ?? 0
        while bytes.count < body + length {
            guard receive(&bytes, connection) else { return nil }
        }
        request.body = Array(bytes[body...])
        return request
    }

    private func receive(_ bytes: inout [UInt8], _ connection: Int32) -> Bool {
        var part = [UInt8](repeating: 0, count: 4096)
        let count = recv(connection, &part, part.count, 0)
        if count > 0 { bytes += part[..<count] }
        return count > 0
    }

    private func write(_ bytes: [UInt8], _ connection: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}

package struct LocalHTTPServerError: Error {
    package var message: String
}
