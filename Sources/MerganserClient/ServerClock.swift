package import Foundation

/// The server's time, learned from the `Date` of its answers, so that a device whose clock is wrong judges a token's `exp`
/// as the server does.
///
/// Between two answers the monotonic clock counts. It means nothing to the next process, which therefore starts with the
/// offset that this one wrote down.
package final class ServerClock: Sendable {
    private struct Reading: Sendable {
        /// Server time at `uptime`.
        var date: Date
        var uptime: Duration
        /// Server time minus the device's, in seconds.
        var offset: TimeInterval
        var source = Source.nothing
    }

    private enum Source { case nothing, anotherProcess, answer }

    private let device: any DeviceClock
    private let reading: Locked<Reading>

    /// - Parameter offset: what an earlier process learned.
    package init(_ device: any DeviceClock, offset: TimeInterval = 0) {
        self.device = device
        reading = Locked(Reading(date: device.date + offset, uptime: device.uptime, offset: offset))
    }

    /// The server's time.
    package var now: Date { reading.withLock { [device] in $0.date + (device.uptime - $0.uptime).seconds } }

    /// Server time minus the device's, in seconds.
    package var offset: TimeInterval { reading.withLock { $0.offset } }

    /// Takes over what another process learned, unless this one has learned something, or has taken the same over already.
    package func restore(offset: TimeInterval) {
        let (date, uptime) = (device.date, device.uptime)
        reading.withLock { reading in
            switch reading.source {
            case .nothing: break
            case .anotherProcess: if reading.offset == offset { return }
            case .answer: return
            }
            reading = Reading(date: date + offset, uptime: uptime, offset: offset, source: .anotherProcess)
        }
    }

    /// - Parameters:
    ///   - field: the answer's `Date` (RFC 9110 §5.6.7). Another form teaches nothing.
    ///   - sent: `uptime` when the request was sent. The answer was made about half-way between then and now.
    package func learn(from field: String?, sent: Duration) {
        guard let field, let seconds = Self.httpDate(field) else { return }
        let (date, uptime) = (device.date, device.uptime)
        // The field has whole seconds: on average the answer was made half a second later.
        let server = seconds + 0.5 + (uptime - sent).seconds / 2
        reading.withLock {
            $0 = Reading(date: server, uptime: uptime, offset: server.timeIntervalSince(date), source: .answer)
        }
    }

    /// The time of an IMF-fixdate: `Sun, 06 Nov 1994 08:49:37 GMT`.
    package static func httpDate(_ field: String) -> Date? {
        let words = field.split(separator: " ")
        guard words.count == 6, words[5] == "GMT", let day = Int(words[1]), let year = Int(words[3]),
            let month = months.firstIndex(of: words[2])
        else { return nil }
        let time = words[4].split(separator: ":").compactMap { Int($0) }
        guard time.count == 3 else { return nil }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar.date(
            from: DateComponents(
                year: year, month: month + 1, day: day, hour: time[0], minute: time[1], second: time[2]))
    }

    private static let months: [Substring] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}

extension Duration {
    /// As `Date` counts.
    package var seconds: TimeInterval { TimeInterval(components.seconds) + TimeInterval(components.attoseconds) / 1e18 }
}
