/// Whose server this is, as people see it on every page and in every mail: a name, a logo, a color, and where to get help.
/// Without settings of the operator it is Merganser's.
package struct Brand: Sendable {
    package let name: String
    /// nil: the server's own emblem.
    package let logo: Asset?
    package let styleSheet: Asset
    /// URLs.
    package let support: String?
    package let privacy: String?

    package static let merganser = Brand()

    /// - Parameters:
    ///   - logo: checked by `BrandLogo`.
    ///   - accent: checked by `AccentColors`.
    package init(
        name: String = "Merganser", logo: BrandLogo? = nil, accent: AccentColors = .merganser, support: String? = nil,
        privacy: String? = nil
    ) {
        self.name = name
        self.logo = logo?.asset
        styleSheet = StyleSheet.asset(accent)
        self.support = support
        self.privacy = privacy
    }

    /// The icon of windows and bookmarks.
    package var icon: Asset { logo ?? Drawing.icon }

    /// In the header, beside the name.
    var emblem: HTML {
        guard let logo else { return Drawing.emblem }
        return "<img class=\"logo\" src=\"\(logo.link)\" alt=\"\">"
    }

    /// Under every page; nil if there is nothing to say.
    func footer(in texts: any Texts) -> HTML? {
        let links = [(support, texts.help), (privacy, texts.privacy)].compactMap { url, name in
            url.map { "<li><a href=\"\($0)\" rel=\"noopener\">\(name)</a></li>\n" as HTML }
        }
        return links.isEmpty ? nil : "<footer><ul>\n\(links)</ul></footer>\n"
    }

    /// Under every mail, as plain text (RFC 3676 §4.3).
    package func signature(in texts: any Texts) -> String {
        let lines = [name, support.map { "\(texts.help): \($0)" }, privacy.map { "\(texts.privacy): \($0)" }]
        return "-- \n" + lines.compactMap { $0 }.joined(separator: "\n") + "\n"
    }
}

/// The pages in one language, with the operator's brand.
package struct Edition: Sendable {
    package let language: Language
    package let brand: Brand

    package init(_ language: Language, of brand: Brand = .merganser) {
        self.language = language
        self.brand = brand
    }

    package var texts: any Texts { language.texts }

    package static let english = Edition(.english)
    package static let korean = Edition(.korean)
}
