package import Database

/// Checks every invariant, each at a single moment, while writers continue. Reads all tables from end to end.
package enum Verification {
    /// - Parameter step: called before each check.
    package static func run(_ database: Database, step: (Invariant) -> Void = { _ in }) throws -> [Violation] {
        try Invariant.allCases.compactMap { invariant in
            step(invariant)
            let rows = try database.read { try $0.violations(of: invariant) }
            return rows.isEmpty ? nil : Violation(invariant: invariant, rows: rows)
        }
    }
}

/// Rows that break an invariant.
package struct Violation: Equatable, Sendable {
    /// The most rows of one invariant that are listed.
    package static let limit = 100

    package let invariant: Invariant
    /// Each row's table and key, never data that people sent.
    package let rows: [String]
}

/// Rules that the tables keep at every commit (analytics §3.2, §4.2, §4.4, §4.5, §5).
package enum Invariant: String, CaseIterable, Sendable {
    case oneRecordPerName = "one_record_per_name"
    case kindFollowsName = "kind_follows_name"
    case tombstonesPointAtRealRecords = "tombstones_point_at_real_records"
    case claimsNameRealRecords = "claims_name_real_records"
    case claimTimesIncrease = "claim_times_increase"
    case claimedIDsHaveNoLiveRecord = "claimed_ids_have_no_live_record"
    case rowsNameRecords = "rows_name_records"
    case rowsNameRecordsOfTheirProject = "rows_name_records_of_their_project"
    case onlyEventsNameTombstones = "only_events_name_tombstones"
    case frozenRowsNameNobody = "frozen_rows_name_nobody"
    case oneLiveResponse = "one_live_response"
    case eventsAreStoredOnce = "events_are_stored_once"
    case countersEqualRows = "counters_equal_rows"
    case attachmentCountsEqualRows = "attachment_counts_equal_rows"
    case horizonsAreMonths = "horizons_are_months"
    case deadEventsAwaitTheirDrop = "dead_events_await_their_drop"

    /// The rule in words.
    package var meaning: String {
        switch self {
        case .oneRecordPerName: "a project has one record of each name"
        case .kindFollowsName: "a record is anonymous exactly if its name has the prefix"
        case .tombstonesPointAtRealRecords:
            "a tombstone points at a live real record of its project; an anonymous one has the time"
        case .claimsNameRealRecords: "a claim gives an anonymous id to a live real record of its project"
        case .claimTimesIncrease: "claims of one id, or of one user, have different times"
        case .claimedIDsHaveNoLiveRecord: "a claimed anonymous id has no live record"
        case .rowsNameRecords: "a record that a row names exists"
        case .rowsNameRecordsOfTheirProject: "a record that a row names belongs to the row's project"
        case .onlyEventsNameTombstones: "only rows of the three event tables name a tombstone"
        case .frozenRowsNameNobody: "a frozen row is deleted and names no record"
        case .oneLiveResponse: "a user has one live response to a questionnaire"
        case .eventsAreStoredOnce: "an app has at most one event with the same client id and time"
        case .countersEqualRows: "the counters of a record equal its live events, month by month"
        case .attachmentCountsEqualRows: "the attachment counts of projects and records are those of their rows"
        case .horizonsAreMonths: "each event table has a horizon, the first of a month"
        case .deadEventsAwaitTheirDrop: "events before the horizon are in a partition that will be dropped"
        }
    }
}
