internal import Glibc

/// Blocks all signals in this thread and in every thread it starts. To be called before there are others.
package func blockAllSignals() {
    var all = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_BLOCK, &all, nil)
}

/// A signal that a process reacts to.
package enum Signal: Int32, Sendable, CaseIterable {
    case hangup = 1
    case interrupt = 2
    case terminate = 15
}

/// Waits for one of the blocked signals.
///
/// - Returns: nil when none came in time.
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
        // A debugger's stop interrupts the wait too.
        if errno != EINTR { return nil }
    }
}
