internal import CFastCGI
internal import Glibc

/// The service manager that started this process, if it expects notifications (sd_notify(3)).
package enum ServiceManager {
    /// Sends it the process's state; does nothing if there is no service manager.
    ///
    /// - Parameter state: `READY=1`, `STOPPING=1`, `WATCHDOG=1`, `STATUS=…`; one line for each.
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

    /// How long it waits for `WATCHDOG=1` before it considers the process dead; nil if it expects none
    /// (sd_watchdog_enabled(3)). Send it at least twice as often.
    package static var watchdogInterval: Duration? {
        guard let text = environmentVariable("WATCHDOG_USEC"), let microseconds = Int(text),
            microseconds > 0
        else { return nil }
        if let pid = environmentVariable("WATCHDOG_PID"), pid != String(getpid()) { return nil }
        return .microseconds(microseconds)
    }
}
