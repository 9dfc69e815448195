import Accounts
import Database
import HTTP
import Pages

/// `GET /admin/webhook_outbox?state=&before=` (accounts §4.7): events by what became of them.
@Sendable func showOutbox(_ call: Call, _ console: ConsoleVisitor) throws -> Response {
    let (list, cursor) = (try call.outboxList(), call.queryParameters["before"])
    let after = try cursor.map { try TimeCursor($0) }
    return try call.show("webhook_outbox", to: console.administrator) { connection in
        try connection.outbox(list, after: after, limit: ListLimit.usual)
    } answer: { page in
        let state: ConsoleEvent.State =
            switch list {
            case .pending: .pending
            case .dead: .dead
            case .delivered: .delivered
            }
        let events = page.rows.map { event in
            let action = "\(ConsoleSection.outbox.path)/\(event.eventID)/replay"
            return ConsoleEvent(event, replay: call.form(to: action, of: console, .init("state", list.rawValue)))
        }
        let paging = Paging(path: outboxPath(list), isFirst: cursor == nil, cursor: page.next)
        return .page(OutboxPage(state: state, events: events, paging: paging, isDone: call.isDone), in: call.language)
    }
}

/// `POST /admin/webhook_outbox/{event_id}/replay`: has an event sent again.
@Sendable func replayEvent(_ call: Call, _ console: ConsoleVisitor) throws -> Response {
    let eventID = call.arguments[0]
    let state = try call.form.value("state")
    let list = OutboxList.allCases.first { $0.rawValue == state } ?? .pending
    return try call.change(from: outboxPath(list), by: console) { transaction, changer in
        try transaction.replayEvent(eventID, by: changer)
    }
}

private func outboxPath(_ list: OutboxList) -> String { "\(ConsoleSection.outbox.path)?state=\(list.rawValue)" }

extension ConsoleEvent {
    fileprivate init(_ event: OutboxEvent, replay: PostForm) {
        self.init(
            id: event.eventID, clientID: event.clientID, type: event.type, attempts: event.attempts,
            occurredAt: event.occurredAt, nextAttemptAt: event.nextAttemptAt, deliveredAt: event.deliveredAt,
            deadAt: event.deadAt, reason: event.failureReason, replay: replay)
    }
}
