package import Time

/// An account in a list.
package struct ConsoleUser: Sendable, ConsoleParts {
    package enum Role: String, CaseIterable, Sendable {
        case user, developer, admin
    }

    package enum Kind: Sendable {
        case anonymous, identified, previouslyAnonymous
    }

    var id: String
    var name: String?
    var address: String?
    var kind: Kind
    var role: Role
    var createdAt: Timestamp
    var lastActiveAt: Timestamp
    var deletedAt: Timestamp?
    var purgeAt: Timestamp?
    /// The survivor's id.
    var mergedInto: String?

    package init(
        id: String, name: String?, address: String?, kind: Kind, role: Role, createdAt: Timestamp,
        lastActiveAt: Timestamp, deletedAt: Timestamp? = nil, purgeAt: Timestamp? = nil, mergedInto: String? = nil
    ) {
        self.id = id
        self.name = name
        self.address = address
        self.kind = kind
        self.role = role
        self.createdAt = createdAt
        self.lastActiveAt = lastActiveAt
        self.deletedAt = deletedAt
        self.purgeAt = purgeAt
        self.mergedInto = mergedInto
    }

    func title(in texts: ConsoleTexts) -> String { name ?? address ?? "\(texts.user) \(id)" }

    func facts(in texts: ConsoleTexts) -> [Fact] {
        let kind =
            switch kind {
            case .anonymous: texts.anonymous
            case .identified: texts.identified
            case .previouslyAnonymous: texts.previouslyAnonymous
            }
        return [
            fact(texts.userID, code(id)), fact(texts.account, "\(kind)"),
            fact(texts.role, "\(texts.roles[role] ?? "")"),
            fact(texts.contactEmail, address.map(chosen)), fact(texts.created, moment(createdAt)),
            fact(texts.lastActive, moment(lastActiveAt)), fact(texts.deleted, deletedAt.map(moment)),
            fact(texts.purged, purgeAt.map(moment)),
            fact(texts.mergedInto, mergedInto.map { link(toUser: $0, "\(texts.user) \($0)") }),
        ]
    }

    /// For a list: the title leads to the account.
    func row(in texts: ConsoleTexts) -> HTML {
        """
        <h2 class="row">\(link(toUser: id, chosen(title(in: texts))))</h2>
        \(facts(facts(in: texts)))
        """
    }
}

/// People, by any of their names (accounts §4.7).
package struct UsersPage: ConsolePage {
    package let section = ConsoleSection.users
    /// What was typed.
    var query: String
    var users: [ConsoleUser]
    var paging: Paging

    package init(query: String, users: [ConsoleUser], paging: Paging) {
        self.query = query
        self.users = users
        self.paging = paging
    }

    package func heading(in texts: ConsoleTexts) -> String { texts.sections[.users] ?? "" }

    package func body(in texts: ConsoleTexts) -> HTML {
        """
        \(searchForm(query, in: texts))
        \(rows(users.map { $0.row(in: texts) }, empty: texts.nobodyFound))
        \(paging.html(in: texts))
        """
    }
}

/// Looks a person up. It is on the front page, too.
func searchForm(_ query: String, in texts: ConsoleTexts) -> HTML {
    """
    <form method="get" action="/admin/users" class="search" role="search">
    <label for="query">\(texts.searchLabel)</label>
    <p class="hint" id="hint">\(texts.searchHint)</p>
    <input id="query" name="query" type="search" value="\(query)" aria-describedby="hint" dir="auto" autocomplete="off" \
    autocapitalize="none" autocorrect="off" spellcheck="false">
    <button class="button primary">\(texts.search)</button>
    </form>
    """
}
