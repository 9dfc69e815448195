package import Time

/// A merge in a list.
package struct ConsoleMerge: Sendable, ConsoleParts {
    var id: String
    var survivor: String
    var absorbed: String
    var via: String
    var at: Timestamp

    package init(id: String, survivor: String, absorbed: String, via: String, at: Timestamp) {
        self.id = id
        self.survivor = survivor
        self.absorbed = absorbed
        self.via = via
        self.at = at
    }

    func facts(in texts: ConsoleTexts) -> HTML {
        facts([
            fact(texts.absorbed, link(toUser: absorbed, "\(texts.user) \(absorbed)")),
            fact(texts.survivor, link(toUser: survivor, "\(texts.user) \(survivor)")), fact(texts.via, code(via)),
            fact(texts.at, moment(at)),
        ])
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

/// One merge, with both accounts as they are now.
package struct MergePage: ConsolePage {
    package let section = ConsoleSection.merges
    var merge: ConsoleMerge
    var accounts: [ConsoleUser]

    package init(merge: ConsoleMerge, accounts: [ConsoleUser]) {
        self.merge = merge
        self.accounts = accounts
    }

    package func heading(in texts: ConsoleTexts) -> String { "\(texts.merge) \(merge.id)" }

    package func body(in texts: ConsoleTexts) -> HTML {
        """
        \(merge.facts(in: texts))
        \(rows(accounts.map { $0.row(in: texts) }, empty: texts.none))
        """
    }
}
