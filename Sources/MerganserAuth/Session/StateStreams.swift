import Foundation
import MerganserClient

/// Tells everyone who listens of each new state.
final class StateStreams<State: Hashable & Sendable>: Sendable {
    private struct Listeners: Sendable {
        var current: State?
        var continuations: [UUID: AsyncStream<State>.Continuation] = [:]
    }

    private let listeners = Locked(Listeners())

    /// The state known last, then each new one. A slow reader misses states between, never the last.
    func stream() -> AsyncStream<State> {
        let (stream, continuation) = AsyncStream<State>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let id = UUID()
        continuation.onTermination = { [weak self] _ in
            self?.listeners.withLock { _ = $0.continuations.removeValue(forKey: id) }
        }
        listeners.withLock { listeners in
            listeners.continuations[id] = continuation
            if let current = listeners.current { continuation.yield(current) }
        }
        return stream
    }

    func publish(_ state: State) {
        listeners.withLock { listeners in
            guard listeners.current != state else { return }
            listeners.current = state
            for continuation in listeners.continuations.values { continuation.yield(state) }
        }
    }
}
