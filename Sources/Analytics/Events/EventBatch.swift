package import JSON

/// The events of one request, not yet checked one by one.
package struct EventBatch: Sendable {
    let entries: [JSONValue]

    /// - Parameter value: the member `events` (analytics §8.1, checks 1 and 2; §9).
    /// - Throws: 400 when it is no array, an empty one, or has more than a hundred (of an import: a thousand) entries.
    package init(_ value: JSONValue?, isImport: Bool = false) throws(Refusal) {
        guard let entries = value?.array, !entries.isEmpty else { throw .invalid("events array is required") }
        let limit = isImport ? 1000 : 100
        if entries.count > limit {
            throw .invalid(isImport ? "Maximum import batch size is \(limit)" : "Maximum batch size is \(limit)")
        }
        self.entries = entries
    }

    /// Checks every entry (§8.2).
    func check(_ checks: EventChecks) throws -> (events: [NewEvent], rejected: [RejectedEvent]) {
        var checks = checks
        var events: [NewEvent] = []
        var rejected: [RejectedEvent] = []
        events.reserveCapacity(entries.count)
        for (index, entry) in entries.enumerated() {
            do {
                events.append(try checks.event(entry))
            } catch let fault as EventFault {
                rejected.append(RejectedEvent(index: index, fault))
            }
        }
        return (events, rejected)
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
