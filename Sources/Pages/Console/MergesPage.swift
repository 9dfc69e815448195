package import Time

/// A merge or swap in a list.
package struct ConsoleMerge: Sendable, ConsoleParts {
    /// Whether it can be undone, as far as time is concerned.
    package enum UndoState: Sendable {
        case undone(at: Timestamp)
        case possible(until: Timestamp)
        case impossible
    }

    var id: String
    var survivor: String
    var absorbed: String
    var via: String
    var at: Timestamp
    var undoState: UndoState

    package init(
        id: String, survivor: String, absorbed: String, via: String, at: Timestamp, undoState: UndoState
    ) {
        self.id = id
        self.survivor = survivor
        self.absorbed = absorbed
        self.via = via
        self.at = at
        self.undoState = undoState
    }

    func facts(in texts: ConsoleTexts) -> HTML {
        facts([
            fact(texts.absorbed, link(toUser: absorbed, "\(texts.user) \(absorbed)")),
            fact(texts.survivor, link(toUser: survivor, "\(texts.user) \(survivor)")), fact(texts.via, code(via)),
            fact(texts.at, moment(at)), undoFact(in: texts),
        ])
    }

    private func undoFact(in texts: ConsoleTexts) -> Fact {
        switch undoState {
        case .undone(let time): fact(texts.undo.undoneAt, moment(time))
        case .possible(let time): fact(texts.undo.possibleUntil, moment(time))
        case .impossible: fact(texts.undo.heading, "\(texts.undo.impossible)")
        }
    }
}

/// Merges (accounts §4.7).
package struct MergesPage: ConsolePage {
    package let section = ConsoleSection.merges
    /// The filter as it was typed; empty: none.
    var user: String
    var merges: [ConsoleMerge]
    var sorting: Sorting
    var paging: Paging

    package init(user: String, merges: [ConsoleMerge], sorting: Sorting, paging: Paging) {
        self.user = user
        self.merges = merges
        self.sorting = sorting
        self.paging = paging
    }

    package func heading(in texts: ConsoleTexts) -> String { texts.sections[.merges] ?? "" }

    package func body(in texts: ConsoleTexts) -> HTML {
        let items = merges.map { merge -> HTML in
            """
            <h2 class="row"><a href="/admin/merges/\(merge.id)">\(texts.merge) \(merge.id)</a></h2>
            \(merge.facts(in: texts))
            """
        }
        return """
            <form method="get" action="/admin/merges" class="search">
            <label for="user_id">\(texts.userID)</label>
            <input id="user_id" name="user_id" type="text" value="\(user)" inputmode="numeric" autocomplete="off" dir="ltr">
            \(sorting.field)
            <button class="button primary">\(texts.filter)</button>
            </form>
            \(sorting.html(in: texts))
            \(rows(items, empty: texts.none))
            \(paging.html(in: texts))
            """
    }
}

/// One merge or swap, with both accounts as they are now, and what an undo would do.
package struct MergePage: ConsolePage {
    /// What an undo would do now.
    package enum Undo: Sendable {
        case impossible(Obstacle)
        case possible(Preview)
    }

    /// Why nothing can be undone.
    package enum Obstacle: CaseIterable, Sendable {
        case alreadyUndone, windowOver, noJournal, laterMerge, accountDeleted, lastIdentity
    }

    package struct Preview: Sendable {
        /// How many rows go back or return.
        var restored: Int
        var unlinkedSubs: [String]
        /// What was changed since: it stays as it is, or nothing is undone.
        var conflicts: [Conflict]
        /// Gets `keep_changed`.
        var form: PostForm

        package init(restored: Int, unlinkedSubs: [String], conflicts: [Conflict], form: PostForm) {
            self.restored = restored
            self.unlinkedSubs = unlinkedSubs
            self.conflicts = conflicts
            self.form = form
        }
    }

    package struct Conflict: Sendable {
        package enum Reason: CaseIterable, Sendable {
            case missing, moved, changed, taken
        }

        var table: String
        var key: String
        var reason: Reason

        package init(table: String, key: String, reason: Reason) {
            self.table = table
            self.key = key
            self.reason = reason
        }
    }

    package let section = ConsoleSection.merges
    package var isDone: Bool
    /// Whether the form was refused just now.
    var isRefused: Bool
    var merge: ConsoleMerge
    var accounts: [ConsoleUser]
    var undo: Undo

    package init(merge: ConsoleMerge, accounts: [ConsoleUser], undo: Undo, isDone: Bool, isRefused: Bool) {
        self.merge = merge
        self.accounts = accounts
        self.undo = undo
        self.isDone = isDone
        self.isRefused = isRefused
    }

    package func heading(in texts: ConsoleTexts) -> String { "\(texts.merge) \(merge.id)" }

    package func title(in texts: any Texts) -> String {
        let title = "\(heading(in: texts.console)) · \(texts.console.title)"
        return isRefused ? "\(texts.errorPrefix): \(title)" : title
    }

    package func body(in texts: ConsoleTexts) -> HTML {
        """
        \(isRefused ? alert(texts.undo.refused) : nil)
        \(merge.facts(in: texts))
        \(rows(accounts.map { $0.row(in: texts) }, empty: texts.none))
        \(block(texts.undo.heading, undoControls(in: texts)))
        """
    }

    private func undoControls(in texts: ConsoleTexts) -> HTML {
        switch undo {
        case .impossible(let obstacle): "<p>\(texts.undo.obstacles[obstacle] ?? "")</p>"
        case .possible(let preview): controls(of: preview, in: texts)
        }
    }

    private func controls(of preview: Preview, in texts: ConsoleTexts) -> HTML {
        let subs: HTML? = preview.unlinkedSubs.isEmpty ? nil : "\(preview.unlinkedSubs.joined(separator: ", "))"
        let button: HTML = "<button class=\"button\">\(texts.undo.button)</button>"
        var controls = button
        var conflicts: HTML?
        if !preview.conflicts.isEmpty {
            conflicts = """
                <p>\(texts.undo.conflicts)</p>
                \(rows(preview.conflicts.map { row(of: $0, in: texts) }, empty: texts.none))
                """
            controls = """
                \(flag("keep_changed", texts.undo.keepChanged, false))
                \(button)
                """
        }
        return """
            <p>\(texts.undo.effect)</p>
            \(facts([fact(texts.undo.restored, "\(preview.restored)"), fact(texts.undo.unlinkedSubs, subs)]))
            \(conflicts)
            \(preview.form.html(controls))
            <p class="note">\(texts.freshSignIn)</p>
            """
    }

    private func row(of conflict: Conflict, in texts: ConsoleTexts) -> HTML {
        let kind: HTML = texts.undo.tables[conflict.table].map { "\($0)" } ?? code(conflict.table)
        return facts([
            fact(texts.undo.what, "\(kind) \(code(conflict.key))"),
            fact(texts.reason, "\(texts.undo.reasons[conflict.reason] ?? "")"),
        ])
    }
}
