/// By which end a list begins, and the links that change it.
package struct Sorting: Sendable {
    private let path: String
    private let isOldestFirst: Bool

    /// - Parameter path: of the list, the newest first, with its filters as a query.
    package init(path: String, isOldestFirst: Bool) {
        self.path = path
        self.isOldestFirst = isOldestFirst
    }

    /// The list's first page, as it is sorted now.
    package var firstPage: String { isOldestFirst ? oldestFirst : path }

    private var oldestFirst: String { "\(path)&order=oldest" }

    /// Keeps the order when a form filters the list.
    var field: HTML? { isOldestFirst ? "<input type=\"hidden\" name=\"order\" value=\"oldest\">" : nil }

    func html(in texts: ConsoleTexts) -> HTML {
        let links = [(path, texts.newestFirst, !isOldestFirst), (oldestFirst, texts.oldestFirst, isOldestFirst)]
        return tabs(links, label: texts.order)
    }
}

/// Links of which one leads to what is shown.
///
/// - Parameter label: what the choice is about.
func tabs(_ links: [(href: String, name: String, isCurrent: Bool)], label: String) -> HTML {
    let items = links.map { href, name, isCurrent -> HTML in
        let current: HTML? = isCurrent ? " aria-current=\"true\"" : nil
        return "<li><a href=\"\(href)\"\(current)>\(name)</a></li>\n"
    }
    return "<nav class=\"tabs\" aria-label=\"\(label)\"><ul>\n\(items)</ul></nav>"
}
