package import Time

/// A row of the audit log.
package struct ConsoleAuditEntry: Sendable, ConsoleParts {
    var id: String
    var at: Timestamp
    /// The id of the user that it is about.
    var user: String?
    var actor: String
    var action: String
    var requestID: String?
    var ip: String?
    /// JSON.
    var details: String?

    package init(
        id: String, at: Timestamp, user: String?, actor: String, action: String, requestID: String?, ip: String?,
        details: String?
    ) {
        self.id = id
        self.at = at
        self.user = user
        self.actor = actor
        self.action = action
        self.requestID = requestID
        self.ip = ip
        self.details = details
    }

    func row(in texts: ConsoleTexts) -> HTML {
        """
        <h3 class="row">\(code(action))</h3>
        \(facts([
            fact(texts.at, moment(at)), fact(texts.user, user.map { link(toUser: $0, "\(texts.user) \($0)") }),
            fact(texts.actor, code(actor)), fact(texts.address, ip.flatMap { $0.isEmpty ? nil : code($0) }),
            fact(texts.request, requestID.map(code)),
        ]))
        \(details.map { "<p class=\"details\">\(code($0))</p>" as HTML })
        """
    }
}

/// The audit log, by user and action (accounts §4.7).
package struct AuditLogPage: ConsolePage {
    package let section = ConsoleSection.auditLog
    var user: String
    var action: String
    var entries: [ConsoleAuditEntry]
    var sorting: Sorting
    var paging: Paging

    /// - Parameters:
    ///   - user: the filter as it was typed; empty: none.
    ///   - action: likewise.
    package init(user: String, action: String, entries: [ConsoleAuditEntry], sorting: Sorting, paging: Paging) {
        self.user = user
        self.action = action
        self.entries = entries
        self.sorting = sorting
        self.paging = paging
    }

    package func heading(in texts: ConsoleTexts) -> String { texts.sections[.auditLog] ?? "" }

    package func body(in texts: ConsoleTexts) -> HTML {
        """
        <form method="get" action="/admin/audit_log" class="search">
        <div class="fields">
        <div class="field"><label for="user_id">\(texts.userID)</label>
        <input id="user_id" name="user_id" type="text" value="\(user)" inputmode="numeric" autocomplete="off" dir="ltr"></div>
        <div class="field"><label for="action">\(texts.action)</label>
        <input id="action" name="action" type="text" value="\(action)" autocomplete="off" autocapitalize="none" \
        autocorrect="off" spellcheck="false" dir="ltr"></div>
        </div>
        \(sorting.field)
        <button class="button primary">\(texts.filter)</button>
        </form>
        \(sorting.html(in: texts))
        <h2 class="spoken">\(texts.sections[.auditLog] ?? "")</h2>
        \(rows(entries.map { $0.row(in: texts) }, empty: texts.noEntries))
        \(paging.html(in: texts))
        """
    }
}
