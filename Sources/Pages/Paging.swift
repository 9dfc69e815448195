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
        let tabs = links.map { href, name, isCurrent -> HTML in
            let current: HTML? = isCurrent ? " aria-current=\"true\"" : nil
            return "<li><a href=\"\(href)\"\(current)>\(name)</a></li>\n"
        }
        return "<nav class=\"tabs\" aria-label=\"\(texts.order)\"><ul>\n\(tabs)</ul></nav>"
    }
}

/// A page's place in a list.
package struct Paging: Sendable {
    /// The list's first page, with its filters.
    var first: String?
    /// The next page; nil on the last one.
    var next: String?

    /// - Parameters:
    ///   - path: of the first page, with its filters as a query.
    ///   - isFirst: whether this page is that one.
    ///   - cursor: what the next page begins after; nil on the last one.
    package init(path: String, isFirst: Bool, cursor: String?) {
        let separator = path.utf8.contains(UInt8(ascii: "?")) ? "&" : "?"
        first = isFirst ? nil : path
        next = cursor.map { "\(path)\(separator)before=\($0)" }
    }

    /// Nil where everything is on one page.
    func html(first firstPage: String, next nextPage: String) -> HTML? {
        if first == nil && next == nil { return nil }
        let links = [(first, firstPage), (next, nextPage)].map { href, name -> HTML in
            href.map { "<li><a class=\"button\" href=\"\($0)\">\(name)</a></li>\n" } ?? .empty
        }
        return "<ul class=\"paging\">\n\(links)</ul>"
    }

    func html(in texts: ConsoleTexts) -> HTML? { html(first: texts.firstPage, next: texts.nextPage) }
}
