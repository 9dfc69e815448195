import Glibc

/// A kept connection to a private nginx, for load and for requests that no well-behaved client sends. It waits at most
/// twenty seconds for an answer.
package final class HTTPConnection {
    package struct Answer: Sendable {
        package var status: Int
        /// Names in lower case.
        package var headers: [(name: String, value: String)]
        package var body: [UInt8]

        /// - Parameter name: in lower case.
        package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
    }

    private let descriptor: Int32
    private var received: ArraySlice<UInt8> = []

    package init(port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = loopback(port)
        let result = withUnsafePointer(to: &address) { [descriptor] in
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            let code = errno
            close(descriptor)
            throw TestSupportError("connect to port \(port)", code: code)
        }
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var yes: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit { close(descriptor) }

    /// Sends a request and reads its answer.
    package func ask(
        _ method: String = "GET", _ path: String = "/", headers: [(String, String)] = [], body: [UInt8] = []
    ) throws -> Answer {
        var head = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.count)\r\n"
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        try send(Array((head + "\r\n").utf8) + body)
        return try receiveAnswer(toHead: method == "HEAD")
    }

    package func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { throw TestSupportError("send", code: errno) }
            rest = rest.dropFirst(count)
        }
    }

    /// Whether there is something to read, or will be soon.
    package func hasInput(within time: Duration) -> Bool {
        var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return !received.isEmpty || poll(&ready, 1, Int32(time / .milliseconds(1))) == 1
    }

    /// The next answer; it must announce its length, unless it has no body (RFC 9112 §6.3).
    ///
    /// - Parameter toHead: whether HEAD was asked, so that no body follows.
    package func receiveAnswer(toHead isHead: Bool = false) throws -> Answer {
        while endOfHead == nil { try receive() }
        let end = endOfHead ?? received.endIndex
        let head = received[..<end]
        received = received[(end + 4)...]
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
        let fields = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return (name: parts[0].lowercased(), value: String(parts.last?.drop { $0 == " " } ?? ""))
        }
        var answer = Answer(status: 0, headers: fields, body: [])
        guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }),
            let length = isHead || status < 200 || status == 204
                ? 0 : answer.header("content-length").flatMap({ Int($0) })
        else { throw TestSupportError("an answer without status or length: \(lines)") }
        answer.status = status
        if isHead { return answer }
        while received.count < length { try receive() }
        answer.body = Array(received.prefix(length))
        received = received.dropFirst(length)
        return answer
    }

    /// The position after the head's last line, which an empty line follows.
    private var endOfHead: Int? {
        received.withUnsafeBytes { bytes in
            let end = bytes.indices.dropFirst(3).first { index in
                bytes[index] == 0x0a && bytes[index - 1] == 0x0d && bytes[index - 2] == 0x0a
            }
            return end.map { received.startIndex + $0 - 3 }
        }
    }

    private func receive() throws {
        let part = try [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, initialized in
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            guard count >= 0 else { throw TestSupportError("recv", code: errno) }
            initialized = count
        }
        if part.isEmpty { throw TestSupportError("the connection ended before its answer did") }
        received += part
    }
}
