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
