import JSON
import MariaDB
package import Time

/// Which events are sent again.
package enum ReplayedEvents: Sendable {
    case one(eventID: String)
    /// Those that were written in that time; nil: without that bound. The end is not part of it.
    case written(since: Timestamp?, until: Timestamp?)
    /// Those whose last attempt failed.
    case dead
}

extension ReplayedEvents {
    /// Ids from the first on, up to but without the end.
    fileprivate var range: (first: String, end: String) {
        switch self {
        case .one(let eventID): (eventID, eventID + "0")
        case .written(let since, let until):
            (since.map(Event.firstID) ?? "evt_", until.map(Event.firstID) ?? "evt_~")
        case .dead: ("evt_", "evt_~")
        }
    }

    fileprivate var isOnlyDead: Bool { if case .dead = self { true } else { false } }

    /// The types that are replayed, a JSON array; nil: all. Who names an event gets it, whatever its type.
    fileprivate func types(for application: RegisteredApplication) -> String? {
        if case .one = self { return nil }
        guard let types = application.webhookEvents else { return nil }
        let always = Event.Kind.allCases.filter(\.isAlwaysPushed).map(\.rawValue)
        return String(decoding: (types + always).json(), as: UTF8.self)
    }
}

extension Accounts {
    /// Has events of an application sent again, from their first attempt on, to where it is reached now (accounts §3.4). What
    /// is not replayed is sent before them.
    ///
    /// - Returns: how many: at most 10 000, the oldest first.
    /// - Throws: `notFound` unless the developer owns it; `invalidRequest` if it has no webhook_url; `rateLimited` after
    ///   60 in an hour.
    package func replayEvents(
        _ events: ReplayedEvents, of clientID: String, by caller: Caller, in transaction: AccountsTransaction
    ) throws -> Int {
        let application = try transaction.lockApplication(clientID, of: caller)
        if application.webhookURL == nil { throw Failure.invalidRequest }
        if let wait = try transaction.count(.webhookReplays, for: clientID) {
            throw Failure.rateLimited(retryAfter: wait)
        }
        return try transaction.replay(events, of: application, user: caller.id, actor: caller.actor)
    }
}

extension AccountsTransaction {
    /// The same by the operator.
    ///
    /// - Throws: `RefusedOperation` if there is no such application, or nowhere to send to.
    package func replayEvents(
        _ events: ReplayedEvents, of clientID: String, by changer: Operator = .tool
    ) throws -> Int {
        _ = try lock(changer)
        let application = try lockApplication(clientID)
        guard application.webhookURL != nil else {
            throw RefusedOperation("\(clientID) has no webhook URL; its developer polls")
        }
        return try replay(events, of: application, user: nil, actor: changer.actor)
    }

    /// The same for one event, whosever it is.
    ///
    /// - Throws: `RefusedOperation` if there is no such event, or nowhere to send it to.
    package func replayEvent(_ eventID: String, by changer: Operator) throws {
        guard let clientID = try connection.application(ofEvent: eventID) else {
            throw RefusedOperation("there is no event \(eventID)")
        }
        _ = try replayEvents(.one(eventID: eventID), of: clientID, by: changer)
    }

    /// - Parameter application: locked.
    fileprivate func replay(
        _ events: ReplayedEvents, of application: RegisteredApplication, user: User.ID?, actor: AuditEntry.Actor
    ) throws -> Int {
        let (first, end) = events.range
        guard first.isASCII else { return 0 }
        let types = events.types(for: application)
        let count = try connection.execute(
            """
            UPDATE webhook_outbox
            SET attempts = 0, next_attempt_at = ?, is_replayed = TRUE,
                replayed_at = IF(replayed_at >= ?, replayed_at + INTERVAL 1000 MICROSECOND, ?),
                delivered_at = NULL, dlq_at = NULL, lease = NULL, failure_reason = NULL
            WHERE application_id = ? AND event_id >= ? AND event_id < ? AND (dlq_at IS NOT NULL OR NOT ?)
              AND (? IS NULL OR JSON_CONTAINS(?, JSON_QUOTE(event_type)))
            ORDER BY event_id LIMIT 10000
            """, now, now, now, application.id, first, end, events.isOnlyDead, types, types
        ).affectedRows
        if count > 0 {
            wakeDispatchers()
            audit(
                .webhookReplayed, user: user, actor: actor,
                ["client_id": .string(application.clientID), "events": .integer(Int64(count))])
        }
        return count
    }
}
