import Synchronization

/// Rings when this process has committed what can be delivered at once, so that its dispatchers need not find it at their
/// next look.
enum OutboxBell {
    private static let listeners = Mutex<[Int: @Sendable () -> Void]>([:])
    private static let lastID = Atomic(0)

    /// Hears the bell as long as it exists.
    final class Listener: Sendable {
        private let id = OutboxBell.lastID.add(1, ordering: .relaxed).newValue

        /// - Parameter heard: called on the thread that committed; must return at once.
        init(_ heard: @escaping @Sendable () -> Void) { listeners.withLock { $0[id] = heard } }

        deinit { listeners.withLock { _ = $0.removeValue(forKey: id) } }
    }

    static func ring() {
        for heard in listeners.withLock({ Array($0.values) }) { heard() }
    }
}
