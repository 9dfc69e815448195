internal import CFastCGI
internal import Glibc

/// The service manager that started this process, if it is one that wants to be told (sd_notify(3)).
package enum ServiceManager {
    /// Tells it how things are; does nothing when there is none.
    ///
    /// - Parameter state: `READY=1`, `STOPPING=1`, `WATCHDOG=1`, `STATUS=…`; several on a line each.
    package static func notify(_ state: String) {
        guard let path = environmentVariable("NOTIFY_SOCKET"), !path.isEmpty else { return }
        let socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { return }
        defer { close(socket) }
        let message = Array(state.utf8)
        _ = withUnixAddress(path) { address, length in
            sendto(socket, message, message.count, Int32(MSG_NOSIGNAL), address, length)
        }
    }

    /// How long it waits for `WATCHDOG=1` before it takes the process for dead; nil when it does not wait for any
    /// (sd_watchdog_enabled(3)). Sending it twice as often is recommended.
    package static var watchdogInterval: Duration? {
        guard let text = environmentVariable("WATCHDOG_USEC"), let microseconds = Int(text),
            microseconds > 0
        else { return nil }
        if let pid = environmentVariable("WATCHDOG_PID"), pid != String(getpid()) { return nil }
        return .microseconds(microseconds)
    }
}
