import Glibc

/// A client's end of a FastCGI connection, which sends exactly the bytes of the test (FastCGI specification 1.0).
package final class FastCGIClient {
    package struct Answer: Sendable {
        package var status: Int
        package var headers: [(name: String, value: String)]
        package var body: [UInt8]

        /// - Parameter name: as the responder wrote it.
        package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
    }

    package struct Record: Equatable, Sendable {
        package var type: UInt8
        package var id: UInt16
        package var content: [UInt8]
    }

    package enum RecordType {
        package static let beginRequest: UInt8 = 1
        package static let endRequest: UInt8 = 3
        package static let parameters: UInt8 = 4
        package static let standardInput: UInt8 = 5
        package static let standardOutput: UInt8 = 6
        package static let getValues: UInt8 = 9
        package static let getValuesResult: UInt8 = 10
        package static let unknownType: UInt8 = 11
    }

    private let descriptor: Int32
    private var received: ArraySlice<UInt8> = []

    /// - Parameter time: how long a single read may wait.
    package init(_ path: String, patience time: Duration = .seconds(20)) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard connectUnix(descriptor, path) == 0 else {
            let code = errno
            close(descriptor)
            throw TestSupportError("connect \(path)", code: code)
        }
        var timeout = timeval(tv_sec: Int(time.components.seconds), tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    // MARK: Records

    package static func record(
        _ type: UInt8, id: UInt16 = 1, _ content: [UInt8] = [], padding: UInt8 = 0, version: UInt8 = 1
    ) -> [UInt8] {
        let length = UInt16(content.count)
        return [
            version, type, UInt8(id >> 8), UInt8(id & 0xff), UInt8(length >> 8), UInt8(length & 0xff), padding, 0,
        ] + content + [UInt8](repeating: 0, count: Int(padding))
    }

    package static func beginRequest(id: UInt16 = 1, role: UInt8 = 1, keep: Bool = true) -> [UInt8] {
        record(RecordType.beginRequest, id: id, [0, role, keep ? 1 : 0, 0, 0, 0, 0, 0])
    }

    /// The content of parameter records.
    package static func encode(_ parameters: [(String, String)]) -> [UInt8] {
        func length(_ count: Int) -> [UInt8] {
            count < 128
                ? [UInt8(count)]
                : [UInt8(count >> 24) | 0x80, UInt8(count >> 16 & 0xff), UInt8(count >> 8 & 0xff), UInt8(count & 0xff)]
        }
        return parameters.flatMap { name, value in
            length(name.utf8.count) + length(value.utf8.count) + Array(name.utf8) + Array(value.utf8)
        }
    }

    /// The parameters nginx sends for such a request.
    ///
    /// - Parameter headers: by their parameters' names; they replace the others.
    package static func parameters(
        _ method: String, _ path: String, headers: [(String, String)] = [], length: Int? = nil
    ) -> [(String, String)] {
        let preset = [
            ("REQUEST_METHOD", method), ("DOCUMENT_URI", path), ("QUERY_STRING", ""), ("CONTENT_TYPE", ""),
            ("CONTENT_LENGTH", length.map { String($0) } ?? ""), ("REMOTE_ADDR", "192.0.2.1"),
        ]
        return preset.filter { name, _ in !headers.contains { $0.0 == name } } + headers
    }

    /// A stream of records and the empty one that ends it.
    package static func stream(
        _ type: UInt8, _ content: [UInt8], recordLength: Int = 32_768, padding: UInt8 = 0
    ) -> [UInt8] {
        var records: [UInt8] = []
        var rest = content[...]
        while !rest.isEmpty {
            records += record(type, Array(rest.prefix(recordLength)), padding: padding)
            rest = rest.dropFirst(recordLength)
        }
        return records + record(type)
    }

    /// All records of a request.
    package static func request(
        _ method: String, _ path: String, headers: [(String, String)] = [], body: [UInt8]? = nil, keep: Bool = true,
        recordLength: Int = 32_768, padding: UInt8 = 0
    ) -> [UInt8] {
        let parameters = encode(parameters(method, path, headers: headers, length: body?.count))
        return beginRequest(keep: keep) + stream(RecordType.parameters, parameters)
            + stream(RecordType.standardInput, body ?? [], recordLength: recordLength, padding: padding)
    }

    // MARK: Traffic

    package func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw TestSupportError("send", code: errno) }
            rest = rest.dropFirst(count)
        }
    }

    /// Tells the server that nothing more will be sent. Answers can still be read.
    package func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Whether there is something to read, or will be soon.
    package func hasInput(within time: Duration) -> Bool {
        var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return !received.isEmpty || poll(&ready, 1, Int32(time / .milliseconds(1))) == 1
    }

    /// The answer to the request under way; nil if the connection ends before.
    package func receiveAnswer() throws -> Answer? {
        var output: [UInt8] = []
        while let record = try receiveRecord() {
            switch record.type {
            case RecordType.standardOutput: output += record.content
            case RecordType.endRequest:
                guard record.content.prefix(5) == [0, 0, 0, 0, 0] else {
                    throw TestSupportError("end of request with \(record.content)")
                }
                return try FastCGIClient.parse(output)
            default: throw TestSupportError("record of type \(record.type)")
            }
        }
        guard output.isEmpty else { throw TestSupportError("half an answer of \(output.count) bytes") }
        return nil
    }

    /// Sends a request and reads its answer.
    package func ask(
        _ method: String = "GET", _ path: String = "/", headers: [(String, String)] = [], body: [UInt8]? = nil,
        keep: Bool = true
    ) throws -> Answer? {
        try send(FastCGIClient.request(method, path, headers: headers, body: body, keep: keep))
        return try receiveAnswer()
    }

    /// The next record; nil at the connection's end.
    package func receiveRecord() throws -> Record? {
        guard let header = try receive(8) else { return nil }
        guard let content = try receive(Int(header[4]) << 8 + Int(header[5])), try receive(Int(header[6])) != nil else {
            throw TestSupportError("a record was cut off")
        }
        return Record(type: header[1], id: UInt16(header[2]) << 8 + UInt16(header[3]), content: content)
    }

    /// Whether the other end has closed the connection without sending another byte.
    package func receiveEnd() throws -> Bool { try receiveRecord() == nil }

    private func receive(_ count: Int) throws -> [UInt8]? {
        while received.count < count {
            let part = try [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, initialized in
                var read = 0
                // A fuzzer's clock interrupts.
                repeat { read = recv(descriptor, buffer.baseAddress, buffer.count, 0) } while read < 0 && errno == EINTR
                // What was left unread at the other end turns its close into a reset.
                guard read >= 0 || errno == ECONNRESET else { throw TestSupportError("recv", code: errno) }
                initialized = max(0, read)
            }
            if part.isEmpty {
                guard received.isEmpty else { throw TestSupportError("a record was cut off") }
                return nil
            }
            received += part
        }
        defer { received = received.dropFirst(count) }
        return Array(received.prefix(count))
    }

    private static func parse(_ output: [UInt8]) throws -> Answer {
        let end = Array("\r\n\r\n".utf8)
        guard let head = output.indices.first(where: { output[$0...].starts(with: end) }) else {
            throw TestSupportError("an answer without an empty line")
        }
        let fields = String(decoding: output[..<head], as: UTF8.self).split(separator: "\r\n").map { line in
            let parts = line.split(separator: ": ", maxSplits: 1, omittingEmptySubsequences: false)
            return (name: String(parts[0]), value: String(parts.last ?? ""))
        }
        guard let status = fields.first, status.name == "Status", let code = Int(status.value.prefix(3)) else {
            throw TestSupportError("an answer that does not begin with its status")
        }
        return Answer(
            status: code, headers: Array(fields.dropFirst()), body: Array(output[(head + end.count)...]))
    }
}

/// - Parameter path: of at most 107 bytes.
func connectUnix(_ descriptor: Int32, _ path: String) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
    return withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
    }
}
