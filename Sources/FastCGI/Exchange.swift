internal import CFastCGI
internal import Glibc
import HTTP

/// One request and its answer on a connection; one value for each worker thread, used again for every request.
final class Exchange {
    enum Outcome {
        case kept
        case closed
        /// The connection ended, or was ended, inside a request.
        case aborted
    }

    /// On the heap: the request's streams point back into it.
    private let request = UnsafeMutablePointer<FCGX_Request>.allocate(capacity: 1)

    /// The largest rest of a body that is read only to keep the connection.
    private static let largestDrain = 65_536

    deinit { request.deallocate() }

    func run(on connection: Int32, _ handler: (Request) -> Response) -> Outcome {
        // Afterwards the connection is libfcgi's: on failure it is closed.
        guard merganser_fcgx_adopt(request, connection) == 0 else { return .aborted }
        guard FCGX_GetError(request.pointee.in) == 0, let parameters = Parameters(request.pointee.envp) else {
            return abort()
        }
        let body = StreamBody(request.pointee.in, length: parameters.contentLength)
        let response = handler(parameters.request(with: body))
        if body.hasFailed { return abort() }
        if !body.finish(atMost: Exchange.largestDrain) {
            // An answer before the end of the body: nginx passes it on, but the rest of the body is still to come.
            if body.hasFailed { return abort() }
            merganser_fcgx_do_not_keep(request)
        }
        let bytes = response.fastCGI
        let isWritten = bytes.withUnsafeBytes { buffer in
            FCGX_PutStr(
                buffer.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(buffer.count), request.pointee.out)
                == Int32(buffer.count)
        }
        let isKept = merganser_fcgx_finish(request) >= 0
        if !isWritten { return .aborted }
        return isKept ? .kept : .closed
    }

    private func abort() -> Outcome {
        merganser_fcgx_do_not_keep(request)
        _ = merganser_fcgx_finish(request)
        return .aborted
    }
}

/// A body that is read from the connection as somebody asks for it.
private final class StreamBody: RequestBody {
    let length: Int?
    private let stream: UnsafeMutablePointer<FCGX_Stream>?
    private var count = 0
    private var isAtEnd = false
    private(set) var hasFailed = false

    /// How much is read at once.
    private static let partSize = 65_536

    init(_ stream: UnsafeMutablePointer<FCGX_Stream>?, length: Int?) {
        self.stream = stream
        self.length = length
    }

    func read(atMost count: Int) throws(BodyError) -> [UInt8] {
        if hasFailed { throw .incomplete }
        // One byte more than is left finds the stream's end, which a kept connection needs to have been read.
        let rest = (length ?? 0) - self.count + 1
        let wanted = min(count, rest, StreamBody.partSize)
        if isAtEnd || wanted <= 0 { return [] }
        let part = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, initialized in
            let bytes = UnsafeMutableRawPointer(buffer.baseAddress)?.assumingMemoryBound(to: CChar.self)
            initialized = Int(FCGX_GetStr(bytes, Int32(wanted), stream))
        }
        self.count += part.count
        isAtEnd = part.count < wanted
        if FCGX_GetError(stream) != 0 || self.count > length ?? 0 || (isAtEnd && self.count != length ?? 0) {
            hasFailed = true
            throw .incomplete
        }
        return part
    }

    /// Reads what is left, if it is little.
    ///
    /// - Returns: whether the end was reached.
    func finish(atMost limit: Int) -> Bool {
        guard (length ?? 0) - count <= limit else { return false }
        while !isAtEnd {
            guard (try? read(atMost: StreamBody.partSize)) != nil else { return false }
        }
        return true
    }
}

extension Response {
    /// As a CGI response (RFC 3875 §6): nginx makes the status line.
    fileprivate var fastCGI: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(512 + body.count)
        bytes += "Status: \(status.code) \(status.reason)\r\n".utf8
        for field in headers {
            bytes += field.name.utf8
            bytes += ": ".utf8
            // A line break would begin another field.
            bytes += field.value.utf8.lazy.map { $0 < 0x20 ? 0x20 : $0 }
            bytes += "\r\n".utf8
        }
        if status.code != 204 { bytes += "Content-Length: \(body.count)\r\n".utf8 }
        bytes += "\r\n".utf8
        bytes += body
        return bytes
    }
}
