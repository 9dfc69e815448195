/// Work that several callers wait for. A caller that is cancelled leaves; the work goes on for the others, and to its end
/// if nobody waits any more.
package final class SharedTask<Value: Sendable>: Sendable {
    private let task: Task<Value, any Error>

    package init(_ work: @escaping @Sendable () async throws -> Value) {
        // Unstructured: it inherits nobody's cancellation.
        task = Task { try await work() }
    }

    /// - Throws: what the work throws; `CancellationError` if the caller is cancelled first.
    package var value: Value {
        get async throws {
            let (stream, continuation) = AsyncThrowingStream<Value, any Error>.makeStream()
            Task { [task] in
                do {
                    continuation.yield(try await task.value)
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            // The stream, unlike a task's value, ends when whoever reads it is cancelled.
            for try await value in stream { return value }
            throw CancellationError()
        }
    }
}
