/// A request's body, read at most once and only as far as somebody asks.
package protocol RequestBody: AnyObject {
    /// `CONTENT_LENGTH`; nil when the request has none.
    var length: Int? { get }

    /// The next part of the body, at most `count` bytes; empty exactly at its end.
    func read(atMost count: Int) throws(BodyError) -> [UInt8]

    /// The same of a body that has to come fast enough.
    ///
    /// - Throws: `tooSlow` when it does not; the rest is left unread.
    func read(atMost count: Int, keeping pace: inout Pace) throws(BodyError) -> [UInt8]
}

/// Why a body could not be read.
package enum BodyError: Error, Equatable {
    /// More than the limit asked for; nothing beyond the limit was read.
    case tooLarge
    /// The peer closed, sent less or more than it announced, or took too long: nobody is left to answer.
    case incomplete
    /// It fell behind the pace it had to keep.
    case tooSlow
}

/// How fast somebody has to send: at a least rate, behind which they may fall by so much time.
///
/// Who sends faster gains no more than that time, so that a pause costs the same at any moment, and the whole takes at most
/// that time and what its bytes take at the rate.
package struct Pace: Sendable {
    /// In bytes per second.
    package let leastRate: Int
    private let patience: Duration
    /// How long it may be yet until more comes; positive unless `allows` said no.
    package private(set) var rest: Duration

    package init(leastRate: Int, patience: Duration) {
        self.leastRate = leastRate
        self.patience = patience
        rest = patience
    }

    /// - Returns: whether the wait for so many bytes was not too long.
    package mutating func allows(_ bytes: Int, in time: Duration) -> Bool {
        rest -= time
        if rest <= .zero { return false }
        rest = min(patience, rest + .seconds(Double(bytes) / Double(leastRate)))
        return true
    }
}

extension RequestBody {
    /// Of a body that nobody has to wait for.
    package func read(atMost count: Int, keeping pace: inout Pace) throws(BodyError) -> [UInt8] {
        try read(atMost: count)
    }

    /// The whole body.
    ///
    /// - Throws: `tooLarge` without reading when the announced length exceeds the limit, otherwise as soon as it does.
    package func collect(limit: Int) throws(BodyError) -> [UInt8] {
        if let length, length > limit { throw .tooLarge }
        var bytes = try read(atMost: limit + 1)
        while bytes.count <= limit {
            let part = try read(atMost: limit + 1 - bytes.count)
            if part.isEmpty { return bytes }
            bytes += part
        }
        throw .tooLarge
    }
}

/// A body that nginx did not read, because it is larger than nginx lets through. Nothing of it comes.
package final class UnreadBody: RequestBody {
    /// As large as can be, whatever was announced: of a body in chunks nginx announces what it has read so far.
    package var length: Int? { .max }

    package init() {}

    package func read(atMost count: Int) throws(BodyError) -> [UInt8] { throw .tooLarge }
}

/// A body that is in memory already.
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
