import Synchronization
import Threads

/// A job on a thread of its own.
final class JobThread: Sendable {
    private let thread: Thread
    private let thrown: Thrown

    private final class Thrown: Sendable {
        let error = Mutex<(any Error)?>(nil)
    }

    init(_ work: @escaping @Sendable () throws -> Void) {
        let thrown = Thrown()
        self.thrown = thrown
        thread = Thread {
            do { try work() } catch { thrown.error.withLock { $0 = error } }
        }
    }

    /// The error that the job threw. Waits for its end.
    var failure: (any Error)? {
        thread.join()
        return thrown.error.withLock { $0 }
    }
}
