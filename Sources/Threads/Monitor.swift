internal import Glibc

/// A value behind a lock; threads can wait for it to change.
///
/// It is Sendable because every access holds the lock. The thread sanitizer sees this lock; when threads contend for
/// Synchronization's `Mutex`, it sees a race.
package final class Monitor<Value>: @unchecked Sendable {
    private var value: Value
    // On the heap, because POSIX forbids moving them.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    package init(_ value: sending Value) {
        self.value = value
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        precondition(pthread_mutex_init(mutex, nil) == 0, "pthread_mutex_init")
        precondition(pthread_cond_init(condition, &attributes) == 0, "pthread_cond_init")
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }

    /// Like `withLock`, but then makes every waiting thread check the value again.
    package func change<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer {
            pthread_cond_broadcast(condition)
            pthread_mutex_unlock(mutex)
        }
        return try body(&value)
    }

    /// Waits until `body` returns a value, or until the time is over. `body` runs with the lock held, first at once and
    /// then after every change.
    ///
    /// - Parameter time: one below zero is over at once.
    /// - Returns: nil if the time is over.
    package func wait<Result>(atMost time: Duration, for body: (inout Value) -> Result?) -> Result? {
        var deadline = timespec()
        clock_gettime(CLOCK_MONOTONIC, &deadline)
        let (seconds, attoseconds) = max(.zero, time).components
        let nanoseconds = Int(deadline.tv_nsec) + Int(attoseconds / 1_000_000_000)
        deadline.tv_sec += Int(seconds) + nanoseconds / 1_000_000_000
        deadline.tv_nsec = nanoseconds % 1_000_000_000

        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&value) { return result }
            if pthread_cond_timedwait(condition, mutex, &deadline) == ETIMEDOUT { return body(&value) }
        }
    }
}
