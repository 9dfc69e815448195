import Foundation
package import MerganserClient

/// What time it is for events.
///
/// The device's clock is believed until the server refuses an event for its time: an answer with a wrong `Date` alone changes
/// nothing. From then on what time has passed since that refusal counts, until the two agree again. The next process believes
/// the device again: somebody may have set its date right.
package final class EventClock: Sendable {
    private struct State: Sendable {
        /// Whether the server has answered this process.
        var hasHeard = false
        /// The time at some moment of `uptime`, while the device's date is wrong.
        var known: (date: Date, uptime: Duration)?
    }

    private let device: any DeviceClock
    private let server: ServerClock
    private let state = Locked(State())

    /// Clocks that differ less agree, in seconds.
    private static let tolerance: TimeInterval = 60
    /// What the server takes (analytics §8.2), in milliseconds around its time.
    private static let (oldest, newest): (Int64, Int64) = (-30 * 86_400_000, 5 * 60_000)

    package init(_ device: any DeviceClock) { (self.device, server) = (device, ServerClock(device)) }

    /// Milliseconds since 1970, as events are stamped.
    var milliseconds: Int64 {
        let known = state.withLock { $0.known }
        return Self.milliseconds(known.map { $0.date + (device.uptime - $0.uptime).seconds } ?? device.date)
    }

    /// Milliseconds since 1970 that have passed by both clocks; 0 before the server has answered. What is too old by this time
    /// is too old for the server.
    var certainMilliseconds: Int64 {
        state.withLock { $0.hasHeard } ? Self.milliseconds(min(device.date, server.now)) : 0
    }

    /// Of the device's clock that never jumps.
    var uptime: Duration { device.uptime }

    /// Notes the time of an answer.
    ///
    /// - Parameters:
    ///   - field: its `Date`.
    ///   - sent: `uptime` when the request was sent.
    func hear(_ field: String?, sent: Duration) {
        guard field.flatMap(ServerClock.httpDate) != nil else { return }
        server.learn(from: field, sent: sent)
        let areEqual = abs(server.offset) <= Self.tolerance
        state.withLock { state in
            state.hasHeard = true
            if areEqual { state.known = nil }
        }
    }

    /// The right time of an event that the server has refused.
    ///
    /// - Parameter milliseconds: its time, as it was stamped.
    /// - Returns: nil if the time is not what is wrong with it, or cannot be corrected.
    func corrected(_ milliseconds: Int64) -> Int64? {
        guard state.withLock({ $0.hasHeard }) else { return nil }
        let now = Self.milliseconds(server.now)
        func isTaken(_ time: Int64) -> Bool { (now + Self.oldest...now + Self.newest).contains(time) }
        guard !isTaken(milliseconds) else { return nil }
        let offset = server.now.timeIntervalSince(device.date)
        // Somebody may have set the date, and set it back: what seems to be still to come has happened by now.
        let right = min(milliseconds + Int64(offset * 1000), now)
        guard isTaken(right) else { return nil }
        if abs(offset) > Self.tolerance {
            state.withLock { [device, server] in $0.known = (server.now, device.uptime) }
        }
        return right
    }

    private static func milliseconds(_ date: Date) -> Int64 { Int64(date.timeIntervalSince1970 * 1000) }
}
