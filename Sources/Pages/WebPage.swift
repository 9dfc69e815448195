/// One page that people see: a value that knows its title and its contents.
///
/// This target owns everything people read: HTML, the layout around every page, its style sheet, and its texts in every
/// language. A page is a pure function of the values it shows. Nothing here reads a request or a row, decides where a form
/// leads, or needs script; the header fields that a page is sent with are the API's.
package protocol WebPage: Sendable {
    /// For the window and, where the page has no other, for screen readers.
    func title(in texts: any Texts) -> String
    /// What stands in `main`, with the page's one `h1`.
    func content(in texts: any Texts) -> HTML
    /// How wide it is set.
    var width: PageWidth { get }
}

package enum PageWidth: Sendable {
    /// One task: a column that is read at a glance.
    case column
    /// Reference: as wide as a line can be read.
    case article
}

extension WebPage {
    package var width: PageWidth { .column }

    /// The whole document.
    package func document(in language: Language) -> HTML {
        let texts = language.texts
        let article: HTML? = width == .article ? " class=\"article\"" : nil
        return """
            <!DOCTYPE html>
            <html lang="\(language.rawValue)" dir="\(language.direction)">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta name="robots" content="noindex">
            <title>\(title(in: texts)) · Merganser</title>
            <link rel="stylesheet" href="\(StyleSheet.asset.link)">
            <link rel="icon" type="image/svg+xml" href="\(Drawing.icon.link)">
            </head>
            <body\(article)>
            <header>\(Drawing.emblem)<span>Merganser</span></header>
            <main>
            \(content(in: texts))
            </main>
            </body>
            </html>

            """
    }

    /// A message that screen readers say at once.
    func alert(_ text: String) -> HTML {
        "<p class=\"alert\" role=\"alert\" id=\"alert\">\(Drawing.warning)<span>\(text)</span></p>"
    }
}
