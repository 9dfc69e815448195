import MariaDB
package import Time

/// The number of `events` rows of a record in a month (analytics §4.5).
package struct EventCounter: Hashable, Comparable {
    let owner: Record.ID
    let month: Timestamp

    /// Nil if the event names no end user.
    package init?(owner: Record.ID?, timestamp: Timestamp) {
        guard let owner else { return nil }
        self.owner = owner
        month = timestamp.startOfMonth
    }

    package static func < (left: Self, right: Self) -> Bool { (left.owner, left.month) < (right.owner, right.month) }
}

extension PlacedEvent {
    var counter: EventCounter? { EventCounter(owner: owner, timestamp: event.timestamp) }
}

extension AnalyticsTransaction {
    func add(to counters: [EventCounter: Int]) throws {
        try connection.executeLater(
            """
            INSERT INTO app_user_event_counts (app_user_id, month, n) VALUES (?, ?, ?)
            ON DUPLICATE KEY UPDATE n = n + VALUES(n)
            """, rows: counters.sorted { $0.key < $1.key }.map { [$0.key.owner, $0.key.month, $0.value] })
    }

    /// If a counter is too low already, that is damage which `merganserctl verify` reports. It does not stop this
    /// transaction.
    package func subtract(from counters: [EventCounter: Int]) throws {
        try connection.executeLater(
            "UPDATE app_user_event_counts SET n = n - LEAST(n, ?) WHERE app_user_id = ? AND month = ?",
            rows: counters.sorted { $0.key < $1.key }.map { [$0.value, $0.key.owner, $0.key.month] })
    }

    func move(from old: [EventCounter], to new: [EventCounter]) throws {
        let changes = Dictionary(old.map { ($0, -1) } + new.map { ($0, 1) }, uniquingKeysWith: +)
        try subtract(from: changes.filter { $0.value < 0 }.mapValues { -$0 })
        try add(to: changes.filter { $0.value > 0 })
    }
}
