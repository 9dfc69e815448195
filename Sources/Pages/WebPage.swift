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
    /// What stands in the header beside the server's name; empty on most pages.
    func navigation(in texts: any Texts) -> HTML
}

package enum PageWidth: Sendable {
    /// One task: a column that is read at a glance.
    case column
    /// Reference: as wide as a line can be read.
    case article
    /// Lists and drawings beside one another: as wide as the window.
    case wide
}

extension WebPage {
    package var width: PageWidth { .column }

    package func navigation(in texts: any Texts) -> HTML { .empty }

    /// The whole document.
    package func document(in edition: Edition) -> HTML {
        let (language, texts, brand) = (edition.language, edition.texts, edition.brand)
        let kind: HTML? =
            switch width {
            case .column: nil
            case .article: " class=\"article\""
            case .wide: " class=\"wide\""
            }
        return """
            <!DOCTYPE html>
            <html lang="\(language.rawValue)" dir="\(language.direction)">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta name="robots" content="noindex">
            <title>\(title(in: texts)) · \(brand.name)</title>
            <link rel="stylesheet" href="\(brand.styleSheet.link)">
            <link rel="icon" type="\(brand.icon.mediaType)" href="\(brand.icon.link)">
            </head>
            <body\(kind)>
            <header>\(brand.emblem)<span>\(brand.name)</span>\(navigation(in: texts))</header>
            <main>
            \(content(in: texts))
            </main>
            \(brand.footer(in: texts))</body>
            </html>

            """
    }

    /// A message that screen readers say at once.
    func alert(_ text: String) -> HTML {
        "<p class=\"alert\" role=\"alert\" id=\"alert\">\(Drawing.warning)<span>\(text)</span></p>"
    }
}
