/// An instant in UTC with a resolution of milliseconds, as the database stores it in `DATETIME(3)` and every surface
/// prints it.
///
/// This target owns instants and the clock. It does not own calendars, time zones or time-outs, which are `Duration`s.
@usableFromInline
package struct Timestamp: Hashable, Comparable, Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
    package var milliseconds: Int64

    package init(milliseconds: Int64) { self.milliseconds = milliseconds }

    package init(seconds: Int64) { milliseconds = seconds * 1000 }

    /// Whole seconds since the epoch, rounded down: a NumericDate (RFC 7519 §2).
    package var seconds: Int64 { milliseconds.quotientRoundedDown(by: 1000) }

    @usableFromInline
    package static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }

    package static func + (left: Timestamp, right: Duration) -> Timestamp {
        Timestamp(milliseconds: left.milliseconds + right.wholeMilliseconds)
    }

    package static func - (left: Timestamp, right: Duration) -> Timestamp {
        Timestamp(milliseconds: left.milliseconds - right.wholeMilliseconds)
    }

    package static func - (left: Timestamp, right: Timestamp) -> Duration {
        .milliseconds(left.milliseconds - right.milliseconds)
    }

    /// How long work has been due; zero if there is none, or if it is not due yet.
    package func delay(since due: Timestamp?) -> Duration { due.map { max(.zero, self - $0) } ?? .zero }
}

extension Duration {
    fileprivate var wholeMilliseconds: Int64 {
        // `components` takes four times as long.
        Int64(attoseconds / 1_000_000_000_000_000)
    }
}

extension Int64 {
    func quotientRoundedDown(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
