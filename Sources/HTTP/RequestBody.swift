/// A request's body. It is read at most once, on demand.
package protocol RequestBody: AnyObject {
    /// `CONTENT_LENGTH`; nil if the request has none.
    var length: Int? { get }

    /// The next part of the body, at most `count` bytes; empty exactly at its end.
    func read(atMost count: Int) throws(BodyError) -> [UInt8]

    /// Like `read`, but for a body that must come fast enough.
    ///
    /// - Throws: `tooSlow` if it does not; the rest stays unread.
    func read(atMost count: Int, keeping pace: inout Pace) throws(BodyError) -> [UInt8]
}

/// Why a body could not be read.
package enum BodyError: Error, Equatable {
    /// The body is larger than the given limit; nothing beyond the limit was read.
    case tooLarge
    /// The peer closed, sent less or more than it announced, or took too long. Nobody is left to receive an answer.
    case incomplete
    /// The body fell behind the required pace.
    case tooSlow
}

/// How fast a peer must send: at a minimum rate, behind which it may fall by a given time.
///
/// A peer that sends faster does not gain more than that time. So a pause costs the same at any moment, and the whole
/// body takes at most that time plus the time that its bytes take at the rate.
package struct Pace: Sendable {
    /// The minimum rate, in bytes per second.
    package let leastRate: Int
    private let patience: Duration
    /// How long the next bytes may take to come; positive unless `allows` returned false.
    package private(set) var rest: Duration

    package init(leastRate: Int, patience: Duration) {
        self.leastRate = leastRate
        self.patience = patience
        rest = patience
    }

    /// - Returns: whether these bytes came in time.
    package mutating func allows(_ bytes: Int, in time: Duration) -> Bool {
        rest -= time
        if rest <= .zero { return false }
        rest = min(patience, rest + .seconds(Double(bytes) / Double(leastRate)))
        return true
    }
}

extension RequestBody {
    /// For a body that never has to be waited for.
    package func read(atMost count: Int, keeping pace: inout Pace) throws(BodyError) -> [UInt8] {
        try read(atMost: count)
    }

    /// The whole body.
    ///
    /// - Throws: `tooLarge`, without reading if the announced length exceeds the limit, otherwise as soon as the body
    ///   does.
    package func collect(limit: Int) throws(BodyError) -> [UInt8] {
        if let length, length > limit { throw .tooLarge }
        var bytes = try read(atMost: limit + 1)
        if bytes.isEmpty { return bytes }
        while bytes.count <= limit {
            let part = try read(atMost: limit + 1 - bytes.count)
            if part.isEmpty { return bytes }
            bytes += part
        }
        throw .tooLarge
    }
}

/// A body that nginx did not read, because it is larger than nginx allows. None of its bytes arrive.
package final class UnreadBody: RequestBody {
    /// The largest number, whatever was announced: for a chunked body, nginx announces the bytes that it has read so
    /// far.
    package var length: Int? { .max }

    package init() {}

    package func read(atMost count: Int) throws(BodyError) -> [UInt8] { throw .tooLarge }
}

/// A body that is already in memory.
package final class BufferedBody: RequestBody {
    package let length: Int?
    private var rest: ArraySlice<UInt8>

    package init(_ bytes: [UInt8]) {
        length = bytes.count
        rest = bytes[...]
    }

    package func read(atMost count: Int) -> [UInt8] {
        let part = rest.prefix(count)
        rest = rest.dropFirst(count)
        return Array(part)
    }
}
