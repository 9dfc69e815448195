package import Database
import Time

/// The result of an imported batch.
package struct ImportOutcome: Equatable, Sendable {
    package var accepted: Int
    package var updated: Int
    package var rejected: [RejectedEvent]
}

extension Analytics {
    /// `POST /v1/import` (analytics §9): like `ingest`, but it updates events that the app has already.
    package func importEvents(
        _ batch: EventBatch, from source: EventSource, _ database: Database
    ) throws -> ImportOutcome {
        try write(database) { transaction in
            let times = EventTimes(at: transaction.now, maximumAge: nil, horizon: transaction.lockEventHorizon)
            let (events, rejected) = try batch.events(of: source.app.platform, within: times)
            let inserted = try transaction.importEvents(events, from: source)
            return ImportOutcome(accepted: inserted, updated: events.count - inserted, rejected: rejected)
        }
    }
}

extension AnalyticsTransaction {
    /// - Returns: how many rows are new.
    fileprivate func importEvents(_ events: [NewEvent], from source: EventSource) throws -> Int {
        if events.isEmpty { return 0 }
        let project = source.app.project.id
        let latest = withoutEarlierVersions(events)
        let stored = try rowsToUpdate(by: events, latest, of: source.app)
        let targets = latest.map { event in event.clientEventID.flatMap { stored[$0]?.target(of: event) } }
        let replaced = targets.compactMap(\.self)

        // The rows' present owners may lose them, so their records are locked, too.
        let names = latest.compactMap(\.userID) + replaced.compactMap { $0.owner?.userID }
        let owners = try lockOwners(of: Set(names), in: project, orCreate: NewRecord(), seenIn: source.app.id)
        let isChanged = replaced.contains { row in row.owner.map { owners[$0.userID]?.id != $0.id } ?? false }
        if try isChanged || !lockUnchanged(replaced) { throw TransactionMustRestart() }

        let placed = zip(latest, targets).map { event, target in
            PlacedEvent(id: target?.id ?? UUID(at: now), owner: event.userID.flatMap { owners[$0]?.id }, event: event)
        }
        let new = zip(placed, targets).filter { $0.1 == nil }.map(\.0)
        // Fewer, or a duplicate key, if another request was faster. The repeated transaction sees that request's rows.
        guard try insertNew(new, from: source).count == new.count else { throw TransactionMustRestart() }
        try update(zip(placed, targets).compactMap { placed, row in row.map { ($0, placed) } }, from: source)
        try deleteCopies(of: replaced.map(\.key), of: source.app)
        try insertCopies(of: placed, from: source)
        try linkAttachments(to: placed, of: source.app)
        try noteSightings(of: owners.values, in: placed, from: source)
        try move(from: replaced.compactMap(\.counter), to: placed.compactMap(\.counter))
        try noteSupportedLanguages(of: placed, source.app)
        return new.count
    }

    /// The rows that these events update, by client id. They are looked for within the batch's own time span, and for
    /// events without a timestamp within the last 48 hours. Each id has up to two rows: the latest, and the one with
    /// the event's own time.
    private func rowsToUpdate(
        by events: [NewEvent], _ latest: [NewEvent], of app: App
    ) throws -> [UUID: [StoredEvent]] {
        let dated = events.filter(\.hasTimestamp)
        let undated = Set(events.filter { !$0.hasTimestamp }.compactMap(\.clientEventID))
        var stored = try latestStored(undated, of: app, in: recently)
        let times = dated.map(\.timestamp)
        if let first = times.min(), let last = times.max() {
            let ofSpan = try latestStored(Set(dated.compactMap(\.clientEventID)), of: app, in: first...last)
            stored.merge(ofSpan, uniquingKeysWith: max)
        }
        var keys = Set(stored.map { EventKey(clientEventID: $0.key, timestamp: $0.value) })
        for event in latest {
            guard let id = event.clientEventID, stored[id] != nil else { continue }
            keys.insert(EventKey(clientEventID: id, timestamp: event.timestamp))
        }
        return Dictionary(grouping: try storedEvents(keys, of: app), by: \.clientEventID)
    }

    /// For each client id, the last version, at the position of the first.
    private func withoutEarlierVersions(_ events: [NewEvent]) -> [NewEvent] {
        var latest: [NewEvent] = []
        var places: [UUID: Int] = [:]
        for event in events {
            if let id = event.clientEventID, let place = places[id] {
                latest[place] = event
            } else {
                if let id = event.clientEventID { places[id] = latest.count }
                latest.append(event)
            }
        }
        return latest
    }
}

/// The key of an event: an app has at most one event with the same key.
struct EventKey: Hashable {
    let clientEventID: UUID
    let timestamp: Timestamp
}

extension EventKey {
    /// Nil if the client gave the event no id, so that it is never found again.
    init?(of event: NewEvent) {
        guard let id = event.clientEventID else { return nil }
        self.init(clientEventID: id, timestamp: event.timestamp)
    }
}

/// A row of `events` that an import may update.
struct StoredEvent: Equatable {
    struct Owner: Equatable {
        let id: Record.ID
        let userID: EndUserID
    }

    let id: UUID
    let clientEventID: UUID
    let timestamp: Timestamp
    /// The stored record, which may be a tombstone.
    let record: Record.ID?
    /// The owner of the event. If `record` is a tombstone, this is the record that it points at.
    let owner: Owner?

    var key: EventKey { EventKey(clientEventID: clientEventID, timestamp: timestamp) }
    var counter: EventCounter? { EventCounter(owner: owner?.id, timestamp: timestamp) }
}

extension [StoredEvent] {
    /// The row that an event updates: the row with the same time if there is one, otherwise the latest row. Two rows
    /// cannot have the same time.
    fileprivate func target(of event: NewEvent) -> StoredEvent? {
        first { $0.timestamp == event.timestamp } ?? self.max { $0.timestamp < $1.timestamp }
    }
}
