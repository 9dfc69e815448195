internal import CFastCGI
internal import Glibc

/// Blocks all signals in this thread and in every thread that it starts, except those by which the kernel reports a
/// crash.
///
/// Call this before other threads exist. From then on signals stay pending until `waitForSignal`.
package func blockAllSignals() { _ = exchangeSignalMask(allSignals) }

/// A signal that a process reacts to.
package enum Signal: Int32, Sendable, CaseIterable {
    case hangup = 1
    case interrupt = 2
    case terminate = 15
}

/// Waits for one of the blocked signals.
///
/// - Returns: nil if none came in time.
package func waitForSignal(atMost time: Duration? = nil) -> Signal? {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in Signal.allCases { sigaddset(&set, signal.rawValue) }
    let deadline = time.map { ContinuousClock.now + $0 }
    while true {
        let number: Int32
        if let deadline {
            let rest = max(.zero, deadline - ContinuousClock.now).components
            var timeout = timespec(tv_sec: Int(rest.seconds), tv_nsec: Int(rest.attoseconds / 1_000_000_000))
            number = sigtimedwait(&set, nil, &timeout)
        } else {
            number = sigwaitinfo(&set, nil)
        }
        if let signal = Signal(rawValue: number) { return signal }
        // A stop by a debugger also interrupts the wait.
        if errno != EINTR { return nil }
    }
}

/// Runs `body` with all signals blocked in this thread, so that the threads that it starts have them blocked for good.
func withSignalsBlocked(_ body: () -> Void) {
    let before = exchangeSignalMask(allSignals)
    body()
    _ = exchangeSignalMask(before)
}

private var allSignals: sigset_t {
    var set = sigset_t()
    sigfillset(&set)
    for signal in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS] { sigdelset(&set, signal) }
    return set
}

private func exchangeSignalMask(_ mask: sigset_t) -> sigset_t {
    var mask = mask
    var before = sigset_t()
    pthread_sigmask(SIG_SETMASK, &mask, &before)
    return before
}
