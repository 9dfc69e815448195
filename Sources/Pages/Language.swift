/// The languages pages are written in.
package enum Language: String, CaseIterable, Sendable {
    /// The raw values are language tags (RFC 5646). English comes first: it is the answer where nothing else is asked for.
    case english = "en"
    case korean = "ko"

    /// The language that an Accept-Language field likes best (RFC 9110 §12.5.4), by primary subtag; the first of equals.
    package init(accepting field: String?) {
        let ranges = (field ?? "").split(separator: ",").compactMap(LanguageRange.init)
        let tags = Set(ranges.map(\.tag))
        var best = (language: Language.english, quality: 0)
        for range in ranges where range.quality > best.quality {
            let language =
                range.tag == "*"
                ? Language.allCases.first { !tags.contains($0.rawValue) }
                : Language(rawValue: range.tag)
            if let language { best = (language, range.quality) }
        }
        self = best.language
    }

    /// The `dir` attribute. Text of people and applications, which may run the other way, stands in `bdi`.
    var direction: String {
        switch self {
        case .english, .korean: "ltr"
        }
    }

    package var texts: any Texts {
        switch self {
        case .english: EnglishTexts()
        case .korean: KoreanTexts()
        }
    }
}

/// One member of an Accept-Language field.
private struct LanguageRange {
    /// The primary subtag in lower case, or `*`.
    let tag: String
    /// In thousandths.
    let quality: Int

    /// nil for what is no range.
    init?(_ member: Substring) {
        let parts = member.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
        guard let tag = parts.first?.split(separator: "-").first else { return nil }
        self.tag = String(tag)
        guard let weight = parts.dropFirst().first else {
            quality = 1000
            return
        }
        guard weight.hasPrefix("q="), let value = Double(weight.dropFirst(2)), (0...1).contains(value) else {
            return nil
        }
        quality = Int(value * 1000)
    }
}
