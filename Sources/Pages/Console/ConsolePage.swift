import Time

/// A page of administration (accounts §4.7). It is as wide as the window, and its header leads to the other sections.
///
/// This folder owns what support staff read. A page gets values that are ready to be shown; nothing here knows a row, or
/// who may see what.
package protocol ConsolePage: WebPage, ConsoleParts {
    var section: ConsoleSection { get }
    /// What the forms of the page just did.
    var isDone: Bool { get }
    /// The heading.
    func heading(in texts: ConsoleTexts) -> String
    /// What stands under the heading.
    func body(in texts: ConsoleTexts) -> HTML
}

package enum ConsoleSection: String, CaseIterable, Sendable {
    case overview = "/admin"
    case users = "/admin/users"
    case merges = "/admin/merges"
    case applications = "/admin/applications"
    case outbox = "/admin/webhook_outbox"
    case keys = "/admin/keys"
    case auditLog = "/admin/audit_log"

    package var path: String { rawValue }
}

extension ConsolePage {
    package var width: PageWidth { .wide }
    package var isDone: Bool { false }

    package func title(in texts: any Texts) -> String { "\(heading(in: texts.console)) · \(texts.console.title)" }

    package func navigation(in texts: any Texts) -> HTML {
        let console = texts.console
        let links = ConsoleSection.allCases.map { section -> HTML in
            let current: HTML? = section == self.section ? " aria-current=\"page\"" : nil
            return "<li><a href=\"\(section.path)\"\(current)>\(console.sections[section] ?? "")</a></li>\n"
        }
        return """

            <nav aria-label="\(console.title)">
            <ul>
            \(links)<li><a href="/session/logout">\(console.signOut)</a></li>
            </ul>
            </nav>
            """
    }

    package func content(in texts: any Texts) -> HTML {
        let console = texts.console
        let done: HTML? =
            isDone ? "<p class=\"done\" role=\"status\">\(Drawing.check)<span>\(console.done)</span></p>" : nil
        return """
            <h1>\(heading(in: console))</h1>
            \(done)
            \(body(in: console))
            <p class="reference">\(console.utc)</p>
            """
    }
}

// MARK: Parts

/// A fact: what it is, and its value; nil: it is left out.
struct Fact {
    var name: String
    var value: HTML?
}

/// What is on a page of administration: its parts share their notation.
package protocol ConsoleParts {}

extension ConsoleParts {
    func fact(_ name: String, _ value: HTML?) -> Fact { Fact(name: name, value: value) }

    /// The value of a fact that somebody chose.
    func chosen(_ text: String) -> HTML { "<bdi>\(text)</bdi>" }

    /// A machine's word: an id, a URI, a name of an action.
    func code(_ text: String) -> HTML { "<code dir=\"ltr\">\(text)</code>" }

    func moment(_ time: Timestamp) -> HTML {
        let text = time.iso8601
        return "<time datetime=\"\(text)\">\(String(text.prefix(10))) \(String(text.dropFirst(11).prefix(5)))</time>"
    }

    /// Facts as a list of terms.
    func facts(_ facts: [Fact]) -> HTML {
        let items = facts.compactMap { fact in
            fact.value.map { value -> HTML in "<div><dt>\(fact.name)</dt><dd>\(value)</dd></div>\n" }
        }
        return "<dl class=\"facts\">\n\(items)</dl>"
    }

    /// A section with its heading.
    func block(_ heading: String, _ content: HTML) -> HTML {
        "<section>\n<h2>\(heading)</h2>\n\(content)\n</section>\n"
    }

    /// A list whose items stand under one another, each with its facts.
    ///
    /// - Parameter empty: what is said if there are none.
    func rows(_ items: [HTML], empty: String) -> HTML {
        if items.isEmpty { return "<p class=\"lede\">\(empty)</p>" }
        return "<ul class=\"entries\">\n\(items.map { "<li>\($0)</li>\n" as HTML })</ul>"
    }

    /// A box to check in a form.
    func flag(_ name: String, _ label: String, _ isSet: Bool) -> HTML {
        let checked: HTML? = isSet ? " checked" : nil
        return """
            <div class="flag"><input id="\(name)" name="\(name)" type="checkbox" value="1"\(checked)>\
            <label for="\(name)">\(label)</label></div>
            """
    }

    /// Where the account with that number is shown.
    func link(toUser id: String, _ title: HTML) -> HTML { "<a href=\"/admin/users/\(id)\">\(title)</a>" }
}
