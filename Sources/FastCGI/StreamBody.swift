internal import CFastCGI
internal import Glibc
import HTTP

/// A body that is read from its connection on demand.
final class StreamBody: RequestBody {
    let length: Int?

    private enum State {
        case open(UnsafeMutablePointer<FCGX_Stream>)
        case atEnd
        /// Nothing came in time. libfcgi does not read on, but the peer can still be answered.
        case timedOut
        /// The peer closed, paused too long, or sent more or less than it announced; or the request is over.
        case failed
    }

    private var state: State
    private var count = 0
    private let connection: Int32
    private let receiveTimeout: Duration

    /// The largest read at once if no length was announced. nginx announces each body, so hardly ever is there anything to read.
    private static let partSize = 4096

    /// - Parameter receiveTimeout: the value that is set on the connection.
    init(
        _ stream: UnsafeMutablePointer<FCGX_Stream>, length: Int?, on connection: Int32, receiveTimeout: Duration
    ) {
        state = .open(stream)
        self.length = length
        self.connection = connection
        self.receiveTimeout = receiveTimeout
    }

    /// Whether more of the body may be read.
    var isOpen: Bool { stream != nil }

    var isAtEnd: Bool {
        if case .atEnd = state { true } else { false }
    }

    /// Whether nobody is left to receive an answer.
    var hasFailed: Bool {
        if case .failed = state { true } else { false }
    }

    private var stream: UnsafeMutablePointer<FCGX_Stream>? {
        if case .open(let stream) = state { stream } else { nil }
    }

    func read(atMost limit: Int) throws(BodyError) -> [UInt8] {
        precondition(limit > 0, "a part of the body has at least one byte")
        guard let stream else { return try deliver([]) }
        let rest = length.map { $0 - count } ?? StreamBody.partSize
        // Asking for one byte more than is left finds the stream's end in the same call.
        let capacity = min(limit - 1, rest, Int(Int32.max) - 1) + 1
        var part: [UInt8] = []
        // `init(unsafeUninitializedCapacity:)` is generic, and would look types up.
        part.append(addingCapacity: capacity) { output in
            output.withUnsafeMutableBufferPointer { buffer, initialized in
                initialized = read(stream, into: buffer)
            }
        }
        // If a body is read without a pace, nginx already has all of it.
        if case .timedOut = state { state = .failed }
        return try deliver(part)
    }

    func read(atMost limit: Int, keeping pace: inout Pace) throws(BodyError) -> [UInt8] {
        precondition(limit > 0, "a part of the body has at least one byte")
        // A client may send bytes without end that are not part of the body, so the pace also limits the wait for a
        // first byte.
        defer { setTimeout(SO_RCVTIMEO, receiveTimeout, connection) }
        var isOnTime = true
        let part = [UInt8](unsafeUninitializedCapacity: limit) { buffer, initialized in
            while initialized < limit, isOnTime, let stream {
                let start = ContinuousClock.now
                setTimeout(SO_RCVTIMEO, pace.rest, connection)
                let count = readWhatComes(
                    stream, into: UnsafeMutableBufferPointer(rebasing: buffer[initialized...]))
                isOnTime = pace.allows(count, in: .now - start)
                initialized += count
            }
        }
        if !isOnTime, isOpen { throw .tooSlow }
        return try deliver(part)
    }

    /// - Returns: the part. Throws if the body ended before its announced end.
    private func deliver(_ part: [UInt8]) throws(BodyError) -> [UInt8] {
        switch state {
        case .open, .atEnd: return part
        case .timedOut: throw .tooSlow
        case .failed: throw .incomplete
        }
    }

    /// Reads and discards the rest, if it is no more than `limit` and comes within `time`.
    ///
    /// - Returns: whether the end was reached. If so, the connection's next byte begins another request.
    func discard(atMost limit: Int, within time: Duration) -> Bool {
        if let length, length - count > limit { return false }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 4096) { buffer in
            let deadline = ContinuousClock.now + time
            var rest = limit
            while rest >= 0, let stream, ContinuousClock.now < deadline {
                rest -= readWhatComes(stream, into: buffer)
            }
            return isAtEnd
        }
    }

    /// Gives the borrowed stream back.
    func invalidate() {
        if isOpen { state = .failed }
    }

    /// Waits for one byte, and reads as many more as have already arrived.
    ///
    /// - Returns: how many bytes were read; 0 at the end.
    private func readWhatComes(
        _ stream: UnsafeMutablePointer<FCGX_Stream>, into buffer: UnsafeMutableBufferPointer<UInt8>
    ) -> Int {
        let first = read(stream, into: UnsafeMutableBufferPointer(rebasing: buffer[..<1]))
        // When libfcgi waits for the next record, it has already skipped the padding after the bytes that had arrived.
        let available = isOpen ? min(buffer.count - 1, stream.pointee.stop - stream.pointee.rdNext) : 0
        if available == 0 { return first }
        return first + read(stream, into: UnsafeMutableBufferPointer(rebasing: buffer[1...available]))
    }

    /// - Returns: how many bytes were read; fewer than requested only at the end.
    private func read(
        _ stream: UnsafeMutablePointer<FCGX_Stream>, into buffer: UnsafeMutableBufferPointer<UInt8>
    ) -> Int {
        let bytes = UnsafeMutableRawPointer(buffer.baseAddress)?.assumingMemoryBound(to: CChar.self)
        // "If result is smaller than n, the end of input has been reached", or an error has.
        let read = Int(FCGX_GetStr(bytes, Int32(buffer.count), stream))
        count += read
        if read < buffer.count {
            // The error comes from read(2), or is one of libfcgi's own, which are negative.
            let error = FCGX_GetError(stream)
            state = error == EAGAIN ? .timedOut : error != 0 || count != length ?? count ? .failed : .atEnd
        } else if let length, count > length {
            state = .failed
        }
        return read
    }
}
