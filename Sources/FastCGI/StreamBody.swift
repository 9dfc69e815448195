internal import CFastCGI
import HTTP

/// A body that is read from its connection as somebody asks for it.
final class StreamBody: RequestBody {
    let length: Int?
    /// The peer closed, paused too long, or sent another length than it announced.
    private(set) var hasFailed = false

    var isAtEnd: Bool { stream == nil }

    /// Nil: read to its end, or the request is over.
    private var stream: UnsafeMutablePointer<FCGX_Stream>?
    private var count = 0

    /// The most that is read at once when no length was announced.
    private static let partSize = 65_536

    init(_ stream: UnsafeMutablePointer<FCGX_Stream>, length: Int?) {
        self.stream = stream
        self.length = length
    }

    func read(atMost limit: Int) throws(BodyError) -> [UInt8] {
        precondition(limit > 0, "a part of the body has at least one byte")
        if hasFailed { throw .incomplete }
        guard let stream else { return [] }
        let rest = length.map { $0 - count } ?? StreamBody.partSize
        // One byte more than is left finds the stream's end in the same call.
        let capacity = min(limit - 1, rest, Int(Int32.max) - 1) + 1
        let part = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, initialized in
            initialized = read(stream, into: buffer)
        }
        if hasFailed { throw .incomplete }
        return part
    }

    func read(atMost limit: Int, keeping pace: inout Pace) throws(BodyError) -> [UInt8] {
        precondition(limit > 0, "a part of the body has at least one byte")
        if hasFailed { throw .incomplete }
        var isOnTime = true
        let part = [UInt8](unsafeUninitializedCapacity: limit) { buffer, initialized in
            while initialized < limit, isOnTime, let stream {
                let start = ContinuousClock.now
                let count = readWhatComes(
                    stream, into: UnsafeMutableBufferPointer(rebasing: buffer[initialized...]))
                isOnTime = pace.allows(count, in: .now - start)
                initialized += count
            }
        }
        if hasFailed { throw .incomplete }
        if !isOnTime, !isAtEnd { throw .tooSlow }
        return part
    }

    /// Reads what is left and throws it away, if it is no more than `limit` and comes within `time`.
    ///
    /// - Returns: whether the end was reached, so that the connection's next byte begins another request.
    func discard(atMost limit: Int, within time: Duration) -> Bool {
        if isAtEnd { return !hasFailed }
        if let length, length - count > limit { return false }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 4096) { buffer in
            let deadline = ContinuousClock.now + time
            var rest = limit
            while rest >= 0, let stream, ContinuousClock.now < deadline {
                rest -= readWhatComes(stream, into: buffer)
            }
            return stream == nil && !hasFailed
        }
    }

    /// Ends the loan of the stream.
    func invalidate() {
        if stream != nil { hasFailed = true }
        stream = nil
    }

    /// Waits for one byte, and reads with it as many as there are already.
    ///
    /// - Returns: how many were read; none at the end.
    private func readWhatComes(
        _ stream: UnsafeMutablePointer<FCGX_Stream>, into buffer: UnsafeMutableBufferPointer<UInt8>
    ) -> Int {
        let first = read(stream, into: UnsafeMutableBufferPointer(rebasing: buffer[..<1]))
        // libfcgi has skipped padding behind the end of what is there when it waits for the next record.
        let available = isAtEnd ? 0 : min(buffer.count - 1, stream.pointee.stop - stream.pointee.rdNext)
        if available == 0 { return first }
        return first + read(stream, into: UnsafeMutableBufferPointer(rebasing: buffer[1...available]))
    }

    /// - Returns: how many bytes were read; fewer than asked for at the end.
    private func read(
        _ stream: UnsafeMutablePointer<FCGX_Stream>, into buffer: UnsafeMutableBufferPointer<UInt8>
    ) -> Int {
        let bytes = UnsafeMutableRawPointer(buffer.baseAddress)?.assumingMemoryBound(to: CChar.self)
        // "If result is smaller than n, the end of input has been reached", or an error has.
        let read = Int(FCGX_GetStr(bytes, Int32(buffer.count), stream))
        count += read
        if read < buffer.count {
            hasFailed = FCGX_GetError(stream) != 0 || count != length ?? count
            self.stream = nil
        } else if let length, count > length {
            hasFailed = true
            self.stream = nil
        }
        return read
    }
}
