internal import Text
package import Time

/// Which end users a read shows (analytics §13.2).
package struct EndUserFilter: Sendable {
    /// Whether a user pays, according to properties that the purchase SDK sets.
    package enum BillingStatus: String, Sendable, CaseIterable {
        case paid, trial, free
    }

    /// The time that the list is sorted by, newest first.
    package enum SortKey: String, Sendable, CaseIterable {
        case lastSeen = "last_seen"
        case firstSeen = "first_seen"
    }

    package var scope: ReadScope
    /// A part of the user's id, in upper or lower case.
    package var search: String?
    package var isAnonymous: Bool?
    var billing: Set<BillingStatus> = []
    package var dataMode = DataMode.production
    /// Bounds of the time last seen, inclusive.
    package var since: Timestamp?
    package var until: Timestamp?
    package var sort = SortKey.lastSeen

    package init(_ scope: ReadScope) { self.scope = scope }

    /// - Parameter list: statuses separated by commas. Unknown ones are ignored. None or all of them mean no filter.
    package mutating func setBilling(_ list: String) {
        let statuses = Set(list.commaSeparated.compactMap(BillingStatus.init(bytes:)))
        billing = statuses.count == BillingStatus.allCases.count ? [] : statuses
    }
}
