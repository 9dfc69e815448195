internal import CFastCGI
internal import Glibc
import HTTP
internal import Text

/// One request and its answer on a connection. Each worker has one object and reuses it for every request.
final class Exchange {
    /// What to do with the connection.
    enum Outcome {
        /// The request was answered; another request may come.
        case kept
        /// The request was answered, and the peer did not ask to keep the connection.
        case ended
        /// The request was answered before the end of its body. Close the connection once the peer has read the answer.
        case endedEarly
        /// The request was not answered.
        case aborted(Fault)
        /// The request was not answered, and libfcgi has closed the connection.
        case lost
    }

    /// On the heap, because the request's streams point back into it.
    private let request = UnsafeMutablePointer<FCGX_Request>.allocate(capacity: 1)
    private var head: [UInt8] = []

    /// The largest unread rest of a body that is read in order to keep the connection.
    ///
    /// It is more than nginx can have sent ahead (net.core.wmem_default is 208 KiB). So if more is left, nginx has not
    /// yet sent all of it when the answer arrives, and drops the connection, too. If nginx had sent the whole request,
    /// it would keep the connection, and closing it on this side could lose the next request.
    private static let largestDiscard = 262_144
    /// How long reading that rest may take: nginx has the body and only needs to write it.
    private static let longestDiscard = Duration.milliseconds(100)
    /// How long it may take if the connection is not kept, as for an upload, which nginx passes on as the client sends
    /// it: only bytes that have already arrived are read.
    private static let shortestDiscard = Duration.milliseconds(1)

    private let receiveTimeout: Duration

    init(receiveTimeout: Duration) { self.receiveTimeout = receiveTimeout }

    deinit { request.deallocate() }

    func run(on connection: Int32, _ handler: (Request) -> Response) -> Outcome {
        guard merganser_fcgx_adopt(request, connection) == 0 else { return .lost }
        // The connection itself stays open.
        defer { FCGX_Free(request, 0) }
        do throws(Fault) {
            return try serve(connection, handler)
        } catch {
            return .aborted(error)
        }
    }

    private func serve(_ connection: Int32, _ handler: (Request) -> Response) throws(Fault) -> Outcome {
        // libfcgi reports success even if the parameters were cut off between two of them.
        guard let input = request.pointee.in, let environment = request.pointee.envp, FCGX_GetError(input) == 0 else {
            throw .unreadableRequest
        }
        guard request.pointee.role == Exchange.responder else { throw .unsupportedRole }
        let parameters = try Parameters(environment)
        let body = StreamBody(
            input, length: parameters.contentLength, on: connection, receiveTimeout: receiveTimeout)
        defer { body.invalidate() }
        let request = parameters.request(with: body)
        let response = handler(request)
        defer { response.afterwards?() }
        // Whatever the handler did, nobody is left to receive the answer.
        if body.hasFailed { throw .incompleteBody }
        // This comes before the answer: after it the peer may send another request, and libfcgi would read into that.
        let isFinished = finish(body, on: connection)
        try send(response, isHead: request.method == .head)
        if !isFinished { return .endedEarly }
        return merganser_fcgx_is_to_be_kept(self.request) != 0 ? .kept : .ended
    }

    /// Reads a body to its end if the handler has not; returns false if too much is left, or if reading takes too long.
    /// So no client can occupy a worker with a body that no handler reads, whatever its length and method.
    private func finish(_ body: StreamBody, on connection: Int32) -> Bool {
        guard body.isOpen else { return body.isAtEnd }
        let time =
            merganser_fcgx_is_to_be_kept(request) != 0 ? Exchange.longestDiscard : Exchange.shortestDiscard
        setTimeout(SO_RCVTIMEO, time, connection)
        defer { setTimeout(SO_RCVTIMEO, receiveTimeout, connection) }
        return body.discard(atMost: Exchange.largestDiscard, within: time)
    }

    /// FCGI_RESPONDER, the FastCGI specification §6.2.
    private static let responder: Int32 = 1

    /// Writes a CGI response (RFC 3875 §6), from which nginx makes the status line.
    private func send(_ response: Response, isHead: Bool) throws(Fault) {
        head.removeAll(keepingCapacity: true)
        head.append(head: response)
        guard let output = request.pointee.out else { throw .undeliveredAnswer }
        try write(head, to: output)
        if !isHead {
            try write(response.body, to: output)
            if let stream = response.stream { try write(stream, to: output) }
        }
        // In this order, both fit into one write.
        guard FCGX_FClose(request.pointee.err) == 0, FCGX_FClose(output) == 0 else { throw .undeliveredAnswer }
    }

    /// The stream's length was announced. If it turns out different, the connection must be ended.
    private func write(_ stream: any ResponseStream, to output: UnsafeMutablePointer<FCGX_Stream>) throws(Fault) {
        var count = 0
        while true {
            guard let part = try? stream.read(atMost: Exchange.partSize) else { throw .brokenAnswer }
            if part.isEmpty { break }
            count += part.count
            try write(part, to: output)
        }
        if count != stream.length { throw .brokenAnswer }
    }

    /// How much of a stream is in memory at once.
    private static let partSize = 65_536

    private func write(_ bytes: [UInt8], to output: UnsafeMutablePointer<FCGX_Stream>) throws(Fault) {
        let isWritten = bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let part = UnsafeRawBufferPointer(rebasing: rest.prefix(1 << 30))
                let start = part.baseAddress?.assumingMemoryBound(to: CChar.self)
                guard FCGX_PutStr(start, Int32(part.count), output) == Int32(part.count) else { return false }
                rest = rest.dropFirst(part.count)
            }
            return true
        }
        if !isWritten { throw .undeliveredAnswer }
    }
}

extension [UInt8] {
    fileprivate mutating func append(head response: Response) {
        let reason = response.status.reason
        // Numbers have up to 20 bytes.
        let others = "Status:  \r\nContent-Length: \r\n\r\n".utf8.count + reason.utf8.count + 2 * 20
        let fields = response.headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + ": \r\n".utf8.count }
        append(addingCapacity: others + fields) { head in
            head.append("Status: ")
            head.append(decimal: Int64(response.status.code))
            head.append(" ")
            head.append(reason)
            head.append("\r\n")
            var hasLength = false
            for field in response.headers {
                hasLength = hasLength || field.name.utf8.count == 14 && field.name.lowercased() == "content-length"
                head.append(field.name)
                head.append(": ")
                head.append(value: field.value)
                head.append("\r\n")
            }
            // Without it, nginx would send the body in chunks. An answer without a body has no Content-Length (RFC 9110
            // §8.6).
            if !hasLength, ![204, 304].contains(response.status.code), let length = response.length {
                head.append("Content-Length: ")
                head.append(decimal: Int64(length))
                head.append("\r\n")
            }
            head.append("\r\n")
        }
    }
}

extension OutputSpan<UInt8> {
    /// Replaces control characters with spaces (RFC 9110 §5.5), because a line break in a value would begin another
    /// field.
    fileprivate mutating func append(value: String) {
        let bytes = value.utf8Span.span
        guard bytes.contains(below: 0x20) else { return append(copying: bytes) }
        for index in bytes.indices {
            append(bytes[index] < 0x20 && bytes[index] != 0x09 ? 0x20 : bytes[index])
        }
    }
}

/// - Parameters:
///   - option: `SO_RCVTIMEO` or `SO_SNDTIMEO`.
///   - timeout: at least a microsecond, because zero would mean no time-out.
func setTimeout(_ option: Int32, _ timeout: Duration, _ connection: Int32) {
    let (seconds, attoseconds) = timeout.components
    var time = timeval(tv_sec: Int(seconds), tv_usec: Int(attoseconds / 1_000_000_000_000))
    if time.tv_sec == 0 { time.tv_usec = max(1, time.tv_usec) }
    setsockopt(connection, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
}
