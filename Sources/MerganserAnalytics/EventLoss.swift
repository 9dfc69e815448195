/// Events that will not reach the server, and why; or what keeps them from it, if none is counted.
public enum EventLoss: Error, Hashable, Sendable {
    /// They came faster than the disk takes them.
    case tooFast(events: Int)
    /// The queue on disk was full; the oldest were dropped.
    case queueFull(events: Int)
    /// They waited for 29 days; the server takes none older than 30.
    case expired(events: Int)
    /// One was longer than 256 KiB.
    case tooLong
    /// What cannot be read of a file, for instance since a crash left its end incomplete.
    case damaged(bytes: Int)
    /// The disk did not take them, for this reason.
    case disk(events: Int, reason: String)
    /// The server refused them: its status and its message. Properties and claims count as one each. If it refuses the key
    /// (401), they wait for another one, and no event is counted.
    case refused(events: Int, status: Int, message: String)
    /// A file that belonged to an event.
    case attachment(name: String, reason: String)
}
