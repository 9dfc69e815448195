package import JSON
package import Time

/// The events of one request, not yet checked one by one.
package struct EventBatch: Sendable {
    private let entries: [JSONValue]

    /// - Parameter value: the member `events` (analytics §8.1, checks 1 and 2; §9).
    /// - Throws: `invalid` when it is no array, an empty one, or has more than a hundred (of an import: a thousand) entries.
    package init(_ value: JSONValue?, isImport: Bool = false) throws(Refusal) {
        guard let entries = value?.array, !entries.isEmpty else { throw .invalid("events array is required") }
        let limit = isImport ? 1000 : 100
        if entries.count > limit {
            throw .invalid(isImport ? "Maximum import batch size is \(limit)" : "Maximum batch size is \(limit)")
        }
        self.entries = entries
    }

    /// Reads and checks every entry (§8.2).
    ///
    /// - Throws: what reading the horizon throws.
    func events(
        of platform: AppPlatform, within times: EventTimes
    ) throws -> (accepted: [NewEvent], rejected: [RejectedEvent]) {
        var times = times
        var accepted: [NewEvent] = []
        var rejected: [RejectedEvent] = []
        accepted.reserveCapacity(entries.count)
        for (index, entry) in entries.enumerated() {
            do {
                accepted.append(try NewEvent(entry, of: platform, within: &times))
            } catch let fault as EventFault {
                rejected.append(RejectedEvent(index: index, fault))
            }
        }
        return (accepted, rejected)
    }
}

/// Where a batch comes from.
package struct EventSource: Sendable {
    let key: APIKey.ID
    let app: App
    /// Of the end user, two letters (analytics §2.7); nil for backend apps and for imports.
    let countryCode: String?

    package init(key: APIKey.ID, app: App, country: String?) {
        self.key = key
        self.app = app
        countryCode = country
    }
}

/// Which times the events of one batch may have (analytics §8.2).
package struct EventTimes {
    /// Of arrival, which is the time of an event that has none of its own.
    let now: Timestamp
    private let latest: Timestamp
    private let oldest: Timestamp?
    private let startOfMonth: Timestamp
    private let readHorizon: () throws -> Timestamp
    private var knownHorizon: Timestamp?

    /// - Parameters:
    ///   - maximumAge: nil: as old as the horizon allows.
    ///   - horizon: reads the horizon of `events` (§14.2). Asked at most once, and only for an event from before this month:
    ///     a horizon is the end of a month that is over.
    package init(at now: Timestamp, maximumAge: Duration?, horizon: @escaping () throws -> Timestamp) {
        self.now = now
        latest = now + .seconds(5 * 60)
        oldest = maximumAge.map { now - $0 }
        startOfMonth = now.startOfMonth
        readHorizon = horizon
    }

    /// - Throws: an `EventFault`, or what reading the horizon throws.
    mutating func check(_ timestamp: Timestamp) throws {
        if timestamp > latest { throw EventFault("timestamp cannot be more than 5 minutes in the future") }
        if let oldest, timestamp < oldest { throw EventFault("timestamp cannot be more than 30 days in the past") }
        guard timestamp < startOfMonth else { return }
        let horizon = try knownHorizon ?? readHorizon()
        knownHorizon = horizon
        if timestamp < horizon { throw EventFault("timestamp is older than the retention period") }
    }
}

/// Why one entry of a batch is rejected, without the prefix that says where it stands (analytics §8.2).
package struct EventFault: Error, Equatable {
    package let message: String

    package init(_ message: String) { self.message = message }
}

/// A rejected entry of a batch, as the answer has it.
package struct RejectedEvent: Equatable, Sendable, Encodable {
    package let index: Int
    /// `events[0]: level must be one of info, debug, warn, error`
    package let message: String

    init(index: Int, _ fault: EventFault) {
        self.index = index
        message = "events[\(index)]: \(fault.message)"
    }
}
