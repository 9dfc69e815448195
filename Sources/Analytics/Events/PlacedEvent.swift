import MariaDB
import Time

/// An event with what the tables add to it.
struct PlacedEvent {
    /// Also of its copy.
    let id: UUID
    /// Locked until the transaction ends.
    let owner: AppUser.ID?
    let event: NewEvent
}

/// The number of `events` rows of a record in a month (analytics §4.5).
struct EventCounter: Hashable, Comparable {
    let owner: AppUser.ID
    let month: Timestamp

    /// Nil for an event that nobody is named by.
    init?(owner: AppUser.ID?, timestamp: Timestamp) {
        guard let owner else { return nil }
        self.owner = owner
        month = timestamp.startOfMonth
    }

    static func < (left: Self, right: Self) -> Bool { (left.owner, left.month) < (right.owner, right.month) }
}
