/// Why one entry of a batch is rejected, without the prefix that tells its place (analytics §8.2).
package struct EventFault: Error, Equatable {
    package let message: String

    package init(_ message: String) { self.message = message }
}

/// A rejected entry of a batch, as the answer tells it.
package struct RejectedEvent: Equatable, Sendable, Encodable {
    package let index: Int
    /// `events[0]: level must be one of info, debug, warn, error`
    package let message: String

    init(index: Int, _ fault: EventFault) {
        self.index = index
        message = "events[\(index)]: \(fault.message)"
    }
}
