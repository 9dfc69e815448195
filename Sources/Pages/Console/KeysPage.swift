package import Time

/// A key that signs tokens: its id and its times.
package struct ConsoleKey: Sendable {
    package enum State: String, CaseIterable, Sendable {
        case next, active, retired, removed
    }

    var id: String
    var state: State
    var publishedAt: Timestamp
    var activatedAt: Timestamp?
    var retiredAt: Timestamp?
    var publishedUntil: Timestamp?

    package init(
        id: String, state: State, publishedAt: Timestamp, activatedAt: Timestamp?, retiredAt: Timestamp?,
        publishedUntil: Timestamp?
    ) {
        self.id = id
        self.state = state
        self.publishedAt = publishedAt
        self.activatedAt = activatedAt
        self.retiredAt = retiredAt
        self.publishedUntil = publishedUntil
    }
}

/// The keys that sign tokens, oldest first (accounts §4.7).
package struct KeysPage: ConsolePage {
    package let section = ConsoleSection.keys
    var keys: [ConsoleKey]

    package init(keys: [ConsoleKey]) { self.keys = keys }

    package func heading(in texts: ConsoleTexts) -> String { texts.sections[.keys] ?? "" }

    package func body(in texts: ConsoleTexts) -> HTML {
        let items = keys.map { key -> HTML in
            """
            <h2 class="row">\(code(key.id))</h2>
            \(facts([
                fact(texts.status, "\(texts.keyStates[key.state] ?? "")"), fact(texts.published, moment(key.publishedAt)),
                fact(texts.signsFrom, key.activatedAt.map(moment)),
                fact(texts.signsUntil, key.retiredAt.map(moment)),
                fact(texts.publishedUntil, key.publishedUntil.map(moment)),
            ]))
            """
        }
        return rows(items, empty: texts.none)
    }
}
