package import Foundation
package import MerganserClient

/// What time it is for events.
///
/// The device's clock is believed until the server refuses an event for its time: an answer with a wrong `Date` alone changes
/// nothing. Then the difference between the two counts, also for the next launch, until they agree again.
package final class EventClock: Sendable {
    private struct State: Sendable {
        var correction: TimeInterval
        /// Whether the server has answered this process.
        var hasHeard = false
    }

    private let device: any DeviceClock
    private let server: ServerClock
    private let state: Locked<State>

    /// Clocks that differ less agree, in seconds.
    private static let tolerance: TimeInterval = 60
    /// What the server takes (analytics §8.2), in milliseconds around its time.
    private static let (oldest, newest): (Int64, Int64) = (-30 * 86_400_000, 5 * 60_000)

    /// - Parameter correction: what an earlier process learned, in seconds.
    package init(_ device: any DeviceClock, correction: TimeInterval = 0) {
        (self.device, server) = (device, ServerClock(device))
        state = Locked(State(correction: correction))
    }

    /// What is added to the device's time, in seconds.
    var correction: TimeInterval { state.withLock { $0.correction } }

    /// Milliseconds since 1970, as events are stamped.
    var milliseconds: Int64 { Self.milliseconds(device.date + correction) }

    /// Milliseconds since 1970 that have passed by both clocks; 0 before the server has answered. What is too old by this time
    /// is too old for the server.
    var certainMilliseconds: Int64 {
        state.withLock { $0.hasHeard } ? min(milliseconds, Self.milliseconds(server.now)) : 0
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
        let offset = server.offset
        state.withLock { state in
            state.hasHeard = true
            if state.correction != 0 { state.correction = abs(offset) > Self.tolerance ? offset : 0 }
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
        if abs(offset) > Self.tolerance { state.withLock { $0.correction = offset } }
        return right
    }

    private static func milliseconds(_ date: Date) -> Int64 { Int64(date.timeIntervalSince1970 * 1000) }
}
