import Glibc
import HTTP
import Threads

/// A small HTTP/1.1 server for browsers on this machine: one request for each connection, one thread for each.
final class LoopbackServer {
    let port: UInt16
    private let listener: Int32

    /// Listens on 127.0.0.1.
    ///
    /// - Parameter port: 0 for any free port.
    init(port: UInt16) throws(ToolError) {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var yes: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { [listener] address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && listen(listener, 64) == 0 && getsockname(listener, $0, &size) == 0
            }
        }
        guard isListening else {
            let reason = String(cString: strerror(errno))
            close(listener)
            throw ToolError(.unavailable, "cannot listen on 127.0.0.1:\(port): \(reason); choose another --port")
        }
        self.port = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(listener) }

    /// Answers requests until the process ends.
    func serve(_ respond: @escaping @Sendable (Request) -> Response) -> Never {
        while true {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else {
                // The process is out of descriptors; some will be free again soon.
                usleep(10_000)
                continue
            }
            Thread {
                LoopbackConnection(connection).answer(respond)
                close(connection)
            }.detach()
        }
    }
}

private struct LoopbackConnection {
    private let descriptor: Int32

    /// Browsers open connections before they need them.
    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
    }

    func answer(_ respond: (Request) -> Response) {
        guard let request = receive() else { return }
        let response = respond(request)
        var head = "HTTP/1.1 \(response.status.code) \(response.status.reason)\r\n"
        for field in response.headers { head += "\(field.name): \(field.value)\r\n" }
        head += "Content-Length: \(response.body.count)\r\nConnection: close\r\n\r\n"
        send(Array(head.utf8) + response.body)
    }

    /// nil if the bytes are not a request, or are larger than any request of a sign-in.
    private func receive() -> Request? {
        var bytes: [UInt8] = []
        var headEnd: Int?
        let separator = Array("\r\n\r\n".utf8)
        while headEnd == nil {
            guard bytes.count < 65_536, let part = receivePart() else { return nil }
            let start = max(0, bytes.count - separator.count)
            bytes += part
            headEnd = bytes.indices.dropFirst(start).first { bytes[$0...].starts(with: separator) }
        }
        guard let headEnd else { return nil }
        let lines = String(decoding: bytes[..<headEnd], as: UTF8.self).split(separator: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count == 3 else { return nil }
        let headers = lines.dropFirst().map { line in
            let name = line.prefix { $0 != ":" }
            return (
                name: name.lowercased(),
                value: String(line.dropFirst(name.count + 1).drop { $0 == " " })
            )
        }
        let length = headers.first { $0.name == "content-length" }.flatMap { Int($0.value) } ?? 0
        guard (0...65_536).contains(length) else { return nil }
        var body = Array(bytes[(headEnd + separator.count)...])
        while body.count < length {
            guard let part = receivePart() else { return nil }
            body += part
        }
        let target = words[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        return Request(
            method: Method(rawValue: String(words[0])), path: String(target[0]),
            query: target.count > 1 ? String(target[1]) : "", headers: Headers(headers),
            remoteAddress: "127.0.0.1", body: BufferedBody(Array(body.prefix(length))))
    }

    private func receivePart() -> [UInt8]? {
        var part = [UInt8](repeating: 0, count: 8192)
        let count = recv(descriptor, &part, part.count, 0)
        return count > 0 ? Array(part[..<count]) : nil
    }

    private func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
