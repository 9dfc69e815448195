#if canImport(os)
internal import os
#else
internal import Synchronization
#endif

/// A value behind a lock, for what synchronous functions share. Nothing waits while it is held.
package final class Locked<Value: Sendable>: Sendable {
    #if canImport(os)
    private let value: OSAllocatedUnfairLock<Value>

    package init(_ value: Value) { self.value = OSAllocatedUnfairLock(initialState: value) }

    package func withLock<Result: Sendable>(_ body: @Sendable (inout Value) throws -> Result) rethrows -> Result {
        try value.withLock(body)
    }
    #else
    // Not `OSAllocatedUnfairLock`, which Linux has not; there `Mutex` needs no later system.
    private let value: Mutex<Value>

    package init(_ value: Value) { self.value = Mutex(value) }

    package func withLock<Result: Sendable>(_ body: @Sendable (inout Value) throws -> Result) rethrows -> Result {
        try value.withLock { (value: inout sending Value) in try body(&value) }
    }
    #endif
}
