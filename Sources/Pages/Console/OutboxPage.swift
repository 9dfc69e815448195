package import Time

/// An event for a relying party: never its payload.
package struct ConsoleEvent: Sendable, ConsoleParts {
    package enum State: String, CaseIterable, Sendable {
        case pending, dead, delivered
    }

    var id: String
    var clientID: String
    var type: String
    var attempts: Int
    var occurredAt: Timestamp
    var nextAttemptAt: Timestamp?
    var deliveredAt: Timestamp?
    var deadAt: Timestamp?
    var reason: String?
    var replay: PostForm

    package init(
        id: String, clientID: String, type: String, attempts: Int, occurredAt: Timestamp, nextAttemptAt: Timestamp?,
        deliveredAt: Timestamp?, deadAt: Timestamp?, reason: String?, replay: PostForm
    ) {
        self.id = id
        self.clientID = clientID
        self.type = type
        self.attempts = attempts
        self.occurredAt = occurredAt
        self.nextAttemptAt = nextAttemptAt
        self.deliveredAt = deliveredAt
        self.deadAt = deadAt
        self.reason = reason
        self.replay = replay
    }

    func row(in texts: ConsoleTexts) -> HTML {
        """
        <h2 class="row">\(code(type))</h2>
        \(facts([
            fact(texts.event, code(id)),
            fact(texts.clientID, "<a href=\"/admin/applications/\(clientID)\">\(code(clientID))</a>"),
            fact(texts.at, moment(occurredAt)), fact(texts.attempts, "\(attempts)"),
            fact(texts.nextAttempt, nextAttemptAt.map(moment)), fact(texts.delivered, deliveredAt.map(moment)),
            fact(texts.gaveUp, deadAt.map(moment)), fact(texts.reason, reason.map(chosen)),
        ]))
        \(replay.html("<button class=\"button\">\(texts.replay) <span class=\"spoken\">\(id)</span></button>"))
        """
    }
}

/// Events by what became of them, with a button that sends one again (accounts §4.7).
package struct OutboxPage: ConsolePage {
    package let section = ConsoleSection.outbox
    package var isDone: Bool
    var state: ConsoleEvent.State
    var events: [ConsoleEvent]
    var paging: Paging

    package init(state: ConsoleEvent.State, events: [ConsoleEvent], paging: Paging, isDone: Bool) {
        self.state = state
        self.events = events
        self.paging = paging
        self.isDone = isDone
    }

    package func heading(in texts: ConsoleTexts) -> String { texts.sections[.outbox] ?? "" }

    package func body(in texts: ConsoleTexts) -> HTML {
        let states = ConsoleEvent.State.allCases.map { state in
            ("/admin/webhook_outbox?state=\(state.rawValue)", texts.states[state] ?? "", state == self.state)
        }
        return """
            \(tabs(states, label: texts.status))
            \(rows(events.map { $0.row(in: texts) }, empty: texts.noEvents))
            \(paging.html(in: texts))
            """
    }
}
