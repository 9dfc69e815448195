package import JSON
package import Time

/// What the checks of a batch's entries (analytics §8.2) have in common.
package struct EventChecks {
    /// The event time of entries without a timestamp.
    let now: Timestamp
    private let platform: Platform
    private let latest: Timestamp
    private let oldest: Timestamp?
    private let startOfMonth: Timestamp
    private let readHorizon: () throws -> Timestamp
    private var knownHorizon: Timestamp?

    /// - Parameters:
    ///   - maximumAge: nil: as old as the horizon allows.
    ///   - horizon: reads the horizon of `events` (§14.2). Asked at most once, and only for an event from before this month:
    ///     a horizon is the end of a month that is over.
    package init(
        platform: Platform, now: Timestamp, maximumAge: Duration?, horizon: @escaping () throws -> Timestamp
    ) {
        self.platform = platform
        self.now = now
        latest = now + .seconds(5 * 60)
        oldest = maximumAge.map { now - $0 }
        startOfMonth = now.startOfMonth
        readHorizon = horizon
    }

    /// - Throws: an `EventFault`, or what reading the horizon throws.
    package mutating func event(_ entry: JSONValue) throws -> NewEvent {
        guard case .object(let fields) = entry else { throw EventFault("must be an object") }
        return try NewEvent(fields, &self)
    }

    mutating func check(_ timestamp: Timestamp) throws {
        if timestamp > latest { throw EventFault("timestamp cannot be more than 5 minutes in the future") }
        if let oldest, timestamp < oldest { throw EventFault("timestamp cannot be more than 30 days in the past") }
        guard timestamp < startOfMonth else { return }
        let horizon = try knownHorizon ?? readHorizon()
        knownHorizon = horizon
        if timestamp < horizon { throw EventFault("timestamp is older than the retention period") }
    }

    func check(environment: String) throws(EventFault) {
        if let objection = platform.objection(to: environment) { throw EventFault(objection) }
    }
}
