package import JSON
package import Time

/// The events of one request, before they are checked.
package struct EventBatch: Sendable {
    private let entries: [ParsedValue]

    /// - Parameter value: the member `events` (analytics §8.1, checks 1 and 2; §9).
    /// - Throws: `invalid` if it is not an array, is empty, or has more than 100 entries (1000 in an import).
    package init(_ value: ParsedValue?, isImport: Bool = false) throws(Refusal) {
        guard let entries = value?.elements, !entries.isEmpty else { throw .invalid("events array is required") }
        let limit = isImport ? 1000 : 100
        if entries.count > limit {
            throw .invalid(isImport ? "Maximum import batch size is \(limit)" : "Maximum batch size is \(limit)")
        }
        self.entries = entries
    }

    /// Whether the unique key cannot find the duplicates of an entry, which gets a new time whenever it arrives.
    package var hasUndated: Bool { entries.contains { $0.object?.isUndated ?? false } }

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

/// The origin of a batch.
package struct EventSource: Sendable {
    let key: APIKey.ID
    let app: App
    /// The end user's country as two letters (analytics §2.7); nil for backend apps and for imports.
    let countryCode: String?

    package init(key: APIKey.ID, app: App, country: String?) {
        self.key = key
        self.app = app
        countryCode = country
    }
}

/// The times that the events of a batch may have (analytics §8.2).
package struct EventTimes {
    /// The time of arrival. Events without a time of their own get it.
    let now: Timestamp
    private let latest: Timestamp
    private let oldest: Timestamp?
    private let startOfMonth: Timestamp
    private let readHorizon: () throws -> Timestamp
    private var knownHorizon: Timestamp?

    /// - Parameters:
    ///   - maximumAge: nil if only the horizon limits the age.
    ///   - horizon: reads the horizon of `events` (§14.2). It is called at most once, and only if an event is from
    ///     before this month, because a horizon is the end of a past month.
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

/// Why one entry of a batch is rejected, without the prefix that names its position (analytics §8.2).
package struct EventFault: Error, Equatable {
    package let message: String

    package init(_ message: String) { self.message = message }
}

/// A rejected entry of a batch, as the answer shows it.
package struct RejectedEvent: Equatable, Sendable, Encodable {
    package let index: Int
    /// `events[0]: level must be one of info, debug, warn, error`
    package let message: String

    init(index: Int, _ fault: EventFault) {
        self.index = index
        message = "events[\(index)]: \(fault.message)"
    }
}
