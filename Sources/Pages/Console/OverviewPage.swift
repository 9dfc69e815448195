/// What is counted per day.
package enum ConsoleCount: CaseIterable, Sendable {
    case newUsers, promotions, signIns, refusedSignIns, swaps, merges, deadEvents
}

/// The front page of administration: whether all is well, in numbers (accounts §4.7).
package struct OverviewPage: ConsolePage {
    package struct Users: Sendable {
        var identified: Int
        var anonymous: Int
        var deleted: Int
        var merged: Int

        package init(identified: Int, anonymous: Int, deleted: Int, merged: Int) {
            self.identified = identified
            self.anonymous = anonymous
            self.deleted = deleted
            self.merged = merged
        }
    }

    package struct Outbox: Sendable {
        /// Since when the next event has been due, in seconds.
        var oldestDue: Int
        var dead: Int
        /// Whether there may be more dead events than were counted.
        var mayHaveMoreDead: Bool
        var openBreakers: Int
        var disabledEndpoints: Int

        package init(
            oldestDue: Int, dead: Int, mayHaveMoreDead: Bool, openBreakers: Int, disabledEndpoints: Int
        ) {
            self.oldestDue = oldestDue
            self.dead = dead
            self.mayHaveMoreDead = mayHaveMoreDead
            self.openBreakers = openBreakers
            self.disabledEndpoints = disabledEndpoints
        }
    }

    package let section = ConsoleSection.overview
    var users: Users
    var outbox: Outbox
    var applicationsAwaitingApproval: Int
    /// `2026-05-12`, the oldest first; the last one is today.
    var days: [String]
    /// A number for each day.
    var counts: [ConsoleCount: [Int]]

    package init(
        users: Users, outbox: Outbox, applicationsAwaitingApproval: Int, days: [String], counts: [ConsoleCount: [Int]]
    ) {
        self.users = users
        self.outbox = outbox
        self.applicationsAwaitingApproval = applicationsAwaitingApproval
        self.days = days
        self.counts = counts
    }

    package func heading(in texts: ConsoleTexts) -> String { texts.sections[.overview] ?? "" }

    package func body(in texts: ConsoleTexts) -> HTML {
        """
        \(searchForm("", in: texts))
        <div class="tiles">
        \(block(texts.accounts, accounts(in: texts)))\
        \(block(texts.outboxFacts, events(in: texts)))</div>
        \(block(texts.lastThirtyDays, charts(in: texts)))
        """
    }

    private func accounts(in texts: ConsoleTexts) -> HTML {
        facts([
            fact(texts.identified, "\(grouped(users.identified))"),
            fact(texts.anonymous, "\(grouped(users.anonymous))"),
            fact(texts.merged, "\(grouped(users.merged))"), fact(texts.deleted, "\(grouped(users.deleted))"),
        ])
    }

    private func events(in texts: ConsoleTexts) -> HTML {
        let dead = grouped(outbox.dead) + (outbox.mayHaveMoreDead ? "+" : "")
        return facts([
            fact(texts.oldestDue, "\(texts.seconds(outbox.oldestDue))"),
            fact(texts.deadEvents, "<a href=\"/admin/webhook_outbox?state=dead\">\(dead)</a>"),
            fact(texts.openBreakers, "\(grouped(outbox.openBreakers))"),
            fact(texts.disabledEndpoints, "\(grouped(outbox.disabledEndpoints))"),
            fact(
                texts.awaitingApproval,
                "<a href=\"\(ConsoleSection.applications.path)\">\(grouped(applicationsAwaitingApproval))</a>"
            ),
        ])
    }

    private func charts(in texts: ConsoleTexts) -> HTML {
        let tiles = ConsoleCount.allCases.map { count -> HTML in
            let (name, values) = (texts.counts[count] ?? "", counts[count] ?? [])
            return """
                <li><h3>\(name)</h3>
                <p><strong>\(grouped(values.reduce(0, +)))</strong> \(texts.inThirtyDays), <strong>\(grouped(values.last ?? 0))</strong> \
                \(texts.today)</p>
                \(ConsoleChart(values: values).html)
                \(numbers(of: name, values, in: texts))</li>

                """
        }
        return "<ul class=\"charts\">\n\(tiles)</ul>"
    }

    /// The same as a table, the newest day first.
    private func numbers(of name: String, _ values: [Int], in texts: ConsoleTexts) -> HTML {
        let lines = zip(days, values).reversed().map { day, value -> HTML in
            "<tr><th scope=\"row\">\(day)</th><td>\(value)</td></tr>\n"
        }
        return """
            <details>
            <summary>\(texts.perDay)<span class="spoken">: \(name)</span></summary>
            <table>
            <thead><tr><th scope="col">\(texts.day)</th><th scope="col">\(name)</th></tr></thead>
            <tbody>
            \(lines)</tbody>
            </table>
            </details>
            """
    }
}

/// With a comma before every third digit, as both languages write it.
private func grouped(_ number: Int) -> String {
    let digits = Array(String(number))
    let groups = stride(from: digits.count, to: 0, by: -3).map { String(digits[max($0 - 3, 0)..<$0]) }
    return groups.reversed().joined(separator: ",")
}
