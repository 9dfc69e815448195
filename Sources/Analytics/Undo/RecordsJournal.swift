import Database
import MariaDB

/// What the merge of two accounts' records changed, in every project.
package struct RecordsJournal: Codable, Sendable, Equatable {
    var records: [Change<RecordState>]
    var apps: [Change<AppState>]
    var claims: [Change<ClaimState>]
    /// Rows that named a record that the merge made a tombstone, as they were before.
    var rows: [OwnedRow]

    package var isEmpty: Bool { records.isEmpty && apps.isEmpty && claims.isEmpty && rows.isEmpty }
}

/// One row before and after: made if there is no `before`, deleted if there is no `after`.
struct Change<State: Codable & Sendable & Equatable & Identifiable>: Codable, Sendable, Equatable {
    var before: State?
    var after: State?

    /// - Returns: only what differs, in the order of the rows before, then of the rows made.
    static func all(from before: [State], to after: [State]) -> [Change] {
        let new = Dictionary(uniqueKeysWithValues: after.map { ($0.id, $0) })
        let known = Set(before.map(\.id))
        return before.filter { new[$0.id] != $0 }.map { Change(before: $0, after: new[$0.id]) }
            + after.filter { !known.contains($0.id) }.map { Change(before: nil, after: $0) }
    }
}

/// A row of `app_users`. Times are texts as MariaDB writes them.
struct RecordState: Codable, Sendable, Equatable, Identifiable {
    let id: Record.ID
    let name: EndUserID
    /// If set, the record is a tombstone.
    let owner: Record.ID?
    let mergedAt: String?
    var firstSeenAt: String
    var properties: String?
}

/// A row of `app_user_apps`.
struct AppState: Codable, Sendable, Equatable, Identifiable {
    struct ID: Hashable {
        let record: Record.ID
        let app: String
    }

    let record: Record.ID
    /// Hexadecimal, as all keys here that are `BINARY(16)`.
    let app: String
    var firstSeenAt: String
    var lastSeenAt: String

    var id: ID { ID(record: record, app: app) }
}

/// A row of `identity_claims`.
struct ClaimState: Codable, Sendable, Equatable, Identifiable {
    let id: Int64
    let project: String
    let anonymousID: EndUserID
    let owner: Record.ID
    let claimedAt: String
}

/// A row of a table whose rows a merge moves, with what it may change.
struct OwnedRow: Codable, Sendable, Equatable, Identifiable {
    enum Table: String, Codable, CaseIterable {
        case feedback
        case attachments = "event_attachments"
        case issueOccurrences = "issue_occurrences"
        case questionnaireResponses = "questionnaire_responses"
    }

    struct ID: Hashable {
        let table: Table
        let key: String
    }

    let table: Table
    /// Hexadecimal.
    let key: String
    let owner: Record.ID?
    let frozenName: EndUserID?
    var deletedAt: String?
    /// Nil in tables without one.
    let updatedAt: String?

    var id: ID { ID(table: table, key: key) }
}

extension Record.ID: Codable {}
extension EndUserID: Codable {}

extension AnalyticsTransaction {
    /// Runs what makes records one, and says what that changed. Looking costs two statements, and a third one if a record is there
    /// that may be merged.
    ///
    /// - Parameters:
    ///   - moving: locked, live; those that may become tombstones.
    ///   - records: locked; all that may change.
    ///   - merge: returns the same afterwards, and those that it made.
    func journaling(
        merging moving: Set<Record.ID>, _ records: Set<Record.ID>,
        _ merge: () throws -> (records: Set<Record.ID>, made: Set<Record.ID>)
    ) throws -> RecordsJournal {
        let before = try connection.states(of: records)
        let rows = try connection.rows(of: moving)
        let result = try merge()
        let after = try connection.states(of: records.union(result.records))
        let changes = Change.all(from: before.records, to: after.records)
        // Another request made one after the first look.
        let isOverlooked = changes.contains { change in
            change.before == nil && change.after.map { !result.made.contains($0.id) } ?? false
        }
        if isOverlooked { throw TransactionMustRestart() }
        let merged = Set(changes.filter(\.isMerge).compactMap(\.after?.id))
        return RecordsJournal(
            records: changes, apps: Change.all(from: before.apps, to: after.apps),
            claims: Change.all(from: before.claims, to: after.claims),
            rows: rows.filter { $0.owner.map(merged.contains) ?? false })
    }
}

extension Change<RecordState> {
    /// Whether a live record became a tombstone.
    var isMerge: Bool { before != nil && before?.owner == nil && after?.owner != nil }
}
