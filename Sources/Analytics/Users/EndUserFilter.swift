internal import Text
package import Time

/// Which end users a read shows (analytics §13.2).
package struct EndUserFilter: Sendable {
    /// What somebody pays, told by properties that the purchase SDK sets.
    package enum BillingStatus: String, Sendable, CaseIterable {
        case paid, trial, free
    }

    /// What they are listed by, newest first.
    package enum SortKey: String, Sendable, CaseIterable {
        case lastSeen = "last_seen"
        case firstSeen = "first_seen"
    }

    package var scope: ReadScope
    /// A part of the user's id, in whichever case.
    package var search: String?
    package var isAnonymous: Bool?
    var billing: Set<BillingStatus> = []
    package var dataMode = DataMode.production
    /// Inclusive, on the time last seen.
    package var since: Timestamp?
    package var until: Timestamp?
    package var sort = SortKey.lastSeen

    package init(_ scope: ReadScope) { self.scope = scope }

    /// - Parameter list: statuses between commas; others are ignored, and none or all of them mean no filter.
    package mutating func setBilling(_ list: String) {
        let statuses = Set(list.commaSeparated.compactMap(BillingStatus.init(bytes:)))
        billing = statuses.count == BillingStatus.allCases.count ? [] : statuses
    }
}
