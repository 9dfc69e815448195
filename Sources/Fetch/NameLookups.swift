internal import Threads

/// Looks names up on threads of its own, because getaddrinfo(3) blocks. A thread lives while names wait for it.
final class NameLookups: Sendable {
    /// So many names that nobody answers for do not delay the others.
    private static let maximumThreads = 128

    private struct Lookup: Sendable {
        let name: String
        let found: @Sendable ([IPAddress]) -> Void
    }

    private struct State {
        var threads = 0
        /// In the order in which they came.
        var waiting: [Lookup] = []
    }

    private let state = Monitor(State())
    private let resolve: @Sendable (String) -> [IPAddress]

    /// - Parameter resolve: returns a name's addresses, none if it has none; may block.
    init(_ resolve: @escaping @Sendable (String) -> [IPAddress]) { self.resolve = resolve }

    /// - Parameter found: called on another thread, perhaps long after the caller gave up.
    func addresses(of name: String, found: @escaping @Sendable ([IPAddress]) -> Void) {
        let isThreadNeeded = state.withLock { state in
            state.waiting.append(Lookup(name: name, found: found))
            guard state.threads < Self.maximumThreads else { return false }
            state.threads += 1
            return true
        }
        if isThreadNeeded { Thread { self.work() }.detach() }
    }

    private func work() {
        while let lookup = next() { lookup.found(resolve(lookup.name)) }
    }

    /// nil ends the thread.
    private func next() -> Lookup? {
        state.withLock { state in
            if state.waiting.isEmpty {
                state.threads -= 1
                return nil
            }
            return state.waiting.removeFirst()
        }
    }
}
