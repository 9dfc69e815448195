package import IdentityTokens
package import Time

/// A way to sign in to an account: its identities of one provider.
package struct SignInMethod: Equatable, Sendable {
    package var provider: String
    /// The identities' e-mail addresses, as far as they are known.
    package var addresses: [String]
    package var since: Timestamp

    package init(provider: String, addresses: [String], since: Timestamp) {
        self.provider = provider
        self.addresses = addresses
        self.since = since
    }
}

/// An identity that somebody proved a moment ago.
package struct ShownIdentity: Equatable, Sendable {
    package var provider: Provider
    package var address: String?

    package init(provider: Provider, address: String?) {
        self.provider = provider
        self.address = address
    }

    func html(in texts: any Texts) -> HTML {
        let name = providerName(provider.rawValue)
        return address.map { "\(name) (<bdi>\($0)</bdi>)" } ?? "\(name)"
    }
}

/// A device as its owner sees it.
package struct ShownDevice: Equatable, Sendable {
    package var id: Int64
    package var platform: String
    package var uuid: String
    /// The application that made it, if the server's own app did not.
    package var application: String?
    package var since: Timestamp
    package var lastSeen: Timestamp

    package init(
        id: Int64, platform: String, uuid: String, application: String?, since: Timestamp, lastSeen: Timestamp
    ) {
        self.id = id
        self.platform = platform
        self.uuid = uuid
        self.application = application
        self.since = since
        self.lastSeen = lastSeen
    }

    /// Tells devices of one kind apart.
    var shortID: String { String(uuid.prefix(8)).uppercased() }
}

/// An application that an account is used in.
package struct ShownApp: Equatable, Sendable {
    package var clientID: String
    package var name: String
    package var scopes: [String]
    package var since: Timestamp
    package var lastUsed: Timestamp?

    package init(clientID: String, name: String, scopes: [String], since: Timestamp, lastUsed: Timestamp?) {
        self.clientID = clientID
        self.name = name
        self.scopes = scopes
        self.since = since
        self.lastUsed = lastUsed
    }
}

/// A program that may ask an account's user for approval.
package struct AccountAgent: Equatable, Sendable {
    /// `agt_…`
    package var id: String
    package var name: String
    package var kind: String
    /// What it may ask for; empty: anything.
    package var actions: [String]
    package var since: Timestamp

    package init(id: String, name: String, kind: String, actions: [String], since: Timestamp) {
        self.id = id
        self.name = name
        self.kind = kind
        self.actions = actions
        self.since = since
    }

    func facts(in texts: any Texts) -> [HTML] {
        let bounds = actions.isEmpty ? [] : [texts.account.mayAsk("<bdi>\(actions.joined(separator: ", "))</bdi>")]
        return ["\(texts.account.agentKind(kind))"] + bounds + [texts.account.added(texts.account.date(since))]
    }
}

/// One line of a list on the account's pages: what it is, what is known of it, and a link to what can be done.
struct AccountRow {
    var title: HTML
    /// A line each.
    var facts: [HTML]
    /// - Parameter name: says what the link is about, for those who do not see the line.
    var link: (text: String, name: String, href: String)?
    /// What is shown only to those who open it, with its line breaks.
    var more: (summary: String, text: String)?
    private var isBelowPageHeading = false

    init(
        title: HTML, facts: [HTML], link: (text: String, name: String, href: String)? = nil,
        more: (summary: String, text: String)? = nil
    ) {
        self.title = title
        self.facts = facts
        self.link = link
        self.more = more
    }

    /// The same for a list that stands right below the page's heading.
    var belowPageHeading: AccountRow {
        var row = self
        row.isBelowPageHeading = true
        return row
    }

    var html: HTML {
        let heading: HTML = isBelowPageHeading ? "<h2>\(title)</h2>" : "<h3>\(title)</h3>"
        let lines = facts.map { fact -> HTML in "<p>\(fact)</p>\n" }
        let action = link.map { link -> HTML in
            "<a class=\"act\" href=\"\(link.href)\" aria-label=\"\(link.name)\">\(link.text)</a>"
        }
        let details = more.map { more -> HTML in
            "<details><summary>\(more.summary)</summary><p class=\"verbatim\" dir=\"auto\">\(more.text)</p></details>"
        }
        return """
            <li><div class="about">\(heading)
            \(lines)\(details)</div>\(action)</li>

            """
    }
}

extension [AccountRow] {
    var html: HTML { "<ul class=\"rows\">\n\(map(\.html))</ul>" }
}

/// A list that is all of a page, with what leads on from it.
struct AccountList {
    var heading: String
    var introduction: String
    var rows: [AccountRow]
    /// What is said instead of a list without lines.
    var empty: String
    var paging: Paging?
    /// Leads to what belongs to the list.
    var more: (text: String, href: String)?
    /// Leads to where the list is linked.
    var back: (text: String, href: String)

    func html(in texts: any Texts) -> HTML {
        """
        <h1>\(heading)</h1>
        <p class="lede">\(introduction)</p>
        \(rows.isEmpty ? "<p class=\"note\">\(empty)</p>" : rows.map(\.belowPageHeading).html)
        \(paging?.html(first: texts.account.firstPage, next: texts.account.nextPage))
        \(more.map { more -> HTML in "<p class=\"more\"><a class=\"act\" href=\"\(more.href)\">\(more.text)</a></p>" })
        <p class="note"><a href="\(back.href)">\(back.text)</a></p>
        """
    }
}

extension AccountTexts {
    func date(_ time: Timestamp) -> HTML { "<time datetime=\"\(time.iso8601)\">\(day(time))</time>" }

    /// To the minute, in UTC.
    func dateAndTime(_ time: Timestamp) -> HTML {
        let instant = time.iso8601
        return "<time datetime=\"\(instant)\">\(moment(day(time), String(instant.dropFirst(11).prefix(5))))</time>"
    }

    /// The day of an instant, in UTC.
    func day(_ time: Timestamp) -> String {
        let instant = time.iso8601.prefix(10)
        let parts = instant.split(separator: "-").compactMap { Int($0) }
        return parts.count == 3 ? date(year: parts[0], month: parts[1], day: parts[2]) : String(instant)
    }

    /// A device as it is called in a sentence or a heading.
    func name(of device: ShownDevice) -> String { platform(device.platform) }

    func addresses(_ addresses: [String]) -> HTML? {
        addresses.isEmpty ? nil : "\(addresses.map { address -> HTML in "<bdi class=\"address\">\(address)</bdi> " })"
    }
}

/// What a provider is called: names of companies are the same in every language.
func providerName(_ provider: String) -> String {
    switch provider {
    case "apple": "Apple"
    case "google": "Google"
    default: provider
    }
}
