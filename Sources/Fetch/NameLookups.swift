internal import Threads

/// Looks names up on threads of its own, because getaddrinfo(3) blocks. A thread lives while names wait for it.
///
/// Whoever asks for a name that is being looked up waits for the same result. A name for which nobody waits any more is not
/// looked up. Names that were given up while they were looked up get at most half of the threads, until one of their
/// look-ups ends in time: so names that nobody answers for leave threads to the others.
final class NameLookups: Sendable {
    typealias Receiver = @Sendable ([IPAddress]) -> Void

    private struct Lookup {
        var isRunning = false
        var waiting: [Int: Receiver] = [:]
    }

    private struct Turn {
        let name: String
        let isSlow: Bool
    }

    private struct State {
        var threads = 0
        /// How many threads look up names that are slow.
        var slowThreads = 0
        var lookups: [String: Lookup] = [:]
        /// The names that no thread has begun with, in the order in which they came.
        var queue: [String] = []
        var slow: Set<String> = []
    }

    /// The most names that are remembered as slow; beyond that all are forgotten.
    private static let slowLimit = 10_000

    private let state = Monitor(State())
    private let threads: Int
    private let resolve: @Sendable (String) -> [IPAddress]

    /// - Parameters:
    ///   - threads: the most that run at once.
    ///   - resolve: returns a name's addresses, none if it has none; may block.
    init(threads: Int = 128, _ resolve: @escaping @Sendable (String) -> [IPAddress]) {
        self.threads = threads
        self.resolve = resolve
    }

    /// - Parameters:
    ///   - id: for `giveUp`.
    ///   - found: called on another thread, at most once.
    func addresses(of name: String, for id: Int, found: @escaping Receiver) {
        let isThreadNeeded = state.withLock { state in
            let isNew = state.lookups[name] == nil
            state.lookups[name, default: Lookup()].waiting[id] = found
            guard isNew else { return false }
            state.queue.append(name)
            guard state.threads < threads else { return false }
            state.threads += 1
            return true
        }
        if isThreadNeeded { Thread { self.work() }.detach() }
    }

    /// Somebody does not wait for a name any more. `found` may be under way, though.
    func giveUp(_ name: String, for id: Int) {
        state.withLock { state in
            guard var lookup = state.lookups[name], lookup.waiting.removeValue(forKey: id) != nil else { return }
            state.lookups[name] = lookup
            guard lookup.waiting.isEmpty else { return }
            if lookup.isRunning {
                if state.slow.count >= Self.slowLimit { state.slow = [] }
                state.slow.insert(name)
            } else {
                state.lookups[name] = nil
                state.queue.removeAll { $0 == name }
            }
        }
    }

    private func work() {
        while let turn = next() {
            let addresses = resolve(turn.name)
            for found in end(turn) { found(addresses) }
        }
    }

    /// nil ends the thread. If slow names remain, those that are looked up at the moment are followed by them.
    private func next() -> Turn? {
        state.withLock { state in
            let index = state.queue.firstIndex { name in
                !state.slow.contains(name) || state.slowThreads < max(1, threads / 2)
            }
            guard let index else {
                state.threads -= 1
                return nil
            }
            let name = state.queue.remove(at: index)
            let turn = Turn(name: name, isSlow: state.slow.contains(name))
            state.lookups[name]?.isRunning = true
            if turn.isSlow { state.slowThreads += 1 }
            return turn
        }
    }

    /// - Returns: who waits for the result.
    private func end(_ turn: Turn) -> [Receiver] {
        state.withLock { state in
            if turn.isSlow { state.slowThreads -= 1 }
            let waiting = state.lookups.removeValue(forKey: turn.name)?.waiting ?? [:]
            if !waiting.isEmpty { state.slow.remove(turn.name) }
            return Array(waiting.values)
        }
    }
}
