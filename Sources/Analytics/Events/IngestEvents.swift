package import Database
import MariaDB

/// The result of a batch.
package struct IngestOutcome: Equatable, Sendable {
    package var accepted: Int
    package var rejected: [RejectedEvent]
    package var duplicates: Int
}

/// An event, with its id and its owner in the tables.
struct PlacedEvent {
    /// The id of the copy, too.
    let id: UUID
    /// The record is locked until the transaction ends.
    let owner: Record.ID?
    let event: NewEvent
}

extension Analytics {
    /// `POST /v1/ingest` (analytics §8). One transaction, with a number of statements that does not depend on the
    /// number of events.
    package func ingest(
        _ batch: EventBatch, from source: EventSource, _ proof: KeyProof, _ database: Database
    ) throws -> IngestOutcome {
        try database.catchUp(if: batch.hasUndated)
        return try write(database, proof: proof) { transaction in
            let times = EventTimes(
                at: transaction.now, maximumAge: .seconds(30 * 86_400), horizon: transaction.lockEventHorizon)
            let (events, rejected) = try batch.events(of: source.app.platform, within: times)
            let inserted = try transaction.ingest(events, from: source)
            return IngestOutcome(
                accepted: inserted, rejected: rejected, duplicates: events.count - inserted)
        }
    }
}

extension AnalyticsTransaction {
    /// - Returns: how many were inserted; the others are duplicates (analytics §8.3).
    fileprivate func ingest(_ events: [NewEvent], from source: EventSource) throws -> Int {
        let fresh = try withoutUndatedDuplicates(events, of: source.app)
        if fresh.isEmpty { return 0 }
        let users = distinctUsers(of: fresh)
        if users.isEmpty { try confirmKey() }
        let owners = try lockOwners(
            of: users, in: source.app.project.id, orCreate: NewRecord(), seenIn: source.app.id)
        var last: (user: EndUserID?, owner: Record.ID?) = (nil, nil)
        let candidates = zip(UUID.fresh(fresh.count, at: now), fresh).map { id, event in
            if event.userID != last.user { last = (event.userID, event.userID.flatMap { owners[$0]?.id }) }
            return PlacedEvent(id: id, owner: last.owner, event: event)
        }
        let placed = try insertNew(candidates, from: source)
        if placed.count < candidates.count {
            // A user whose events are all duplicates must leave no record.
            let used = Set(placed.compactMap(\.owner))
            for owner in owners.values where owner.isNew && !used.contains(owner.id) { try removeUnused(owner) }
        }
        try insertCopies(of: placed, from: source)
        try linkAttachments(to: placed, of: source.app)
        try noteSightings(of: owners.values, in: placed, from: source)
        try add(to: Dictionary(placed.compactMap { $0.counter.map { ($0, 1) } }, uniquingKeysWith: +))
        try noteSupportedLanguages(of: placed, source.app)
        return placed.count
    }

    /// Most events are of the same user as the one before, which is faster to see than to look up.
    private func distinctUsers(of events: [NewEvent]) -> Set<EndUserID> {
        var users: Set<EndUserID> = []
        var last: EndUserID?
        for event in events where event.userID != last {
            last = event.userID
            if let last { users.insert(last) }
        }
        return users
    }

    /// Leaves out each event without a timestamp whose client id the app stored within 48 hours, or occurs earlier in
    /// the batch. The unique key finds all other duplicates.
    private func withoutUndatedDuplicates(_ events: [NewEvent], of app: App) throws -> [NewEvent] {
        let undated = Set(events.filter { !$0.hasTimestamp }.compactMap(\.clientEventID))
        if undated.isEmpty { return events }
        var seen = Set(try latestStored(undated, of: app, in: recently).keys)
        seen.reserveCapacity(seen.count + events.count)
        return events.filter { event in
            guard let id = event.clientEventID else { return true }
            let isNew = seen.insert(id).inserted
            return event.hasTimestamp || isNew
        }
    }

    /// - Returns: the events that were inserted, or else the transaction will fail. The app already has an event with the client id
    ///   and time of each other one.
    func insertNew(_ events: [PlacedEvent], from source: EventSource) throws -> [PlacedEvent] {
        // A single event hardly ever comes again. If it does, the unique key ends this run, and the next one looks. On a cluster, where
        // nothing waits for COMMIT, this would save nothing.
        if events.count == 1, isFirstRun, !connection.isClusterNode {
            try insertLater(events[0], from: source)
            return events
        }
        if try insert(events, from: source) == events.count { return events }
        let stored = try storedIDs(of: events)
        return events.filter { stored.contains($0.id) }
    }
}
