internal import Glibc

// This target owns POSIX threads and waiting: Swift's standard library has locks, but neither threads nor conditions.

/// A running thread.
package final class Thread: Sendable {
    private let handle: pthread_t

    private final class Body {
        let run: () -> Void

        init(_ run: @escaping () -> Void) { self.run = run }
    }

    package init(_ body: @escaping @Sendable () -> Void) {
        let argument = Unmanaged.passRetained(Body(body))
        var handle = pthread_t()
        let code = pthread_create(
            &handle, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, argument.toOpaque())
        precondition(code == 0, "pthread_create: \(String(cString: strerror(code)))")
        self.handle = handle
    }

    // Call one of these, once: it frees the thread's resources.

    /// Waits until the thread has ended.
    package func join() { pthread_join(handle, nil) }

    /// Lets the thread end on its own.
    package func detach() { pthread_detach(handle) }
}
