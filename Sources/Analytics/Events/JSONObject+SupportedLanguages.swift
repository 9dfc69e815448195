import JSON

extension JSONObject {
    /// The languages of an app as an event tells them (analytics §8.4): trimmed, without empty ones and `Base`, each once
    /// and in the order of their bytes. Nil for what is no array of strings, holds a NUL, or leaves nothing; and for what is
    /// no list of languages: more than there are to choose from, or one that is longer than `preferred_language` may be.
    func supportedLanguages() -> [String]? {
        guard let values = self["supported_languages"]?.array else { return nil }
        let languages = values.compactMap { $0.string?.trimmed }
        guard languages.count == values.count, !languages.contains(where: \.hasNUL) else { return nil }
        let distinct = Set(languages.map { Array($0.utf8) }).subtracting([[], Array("Base".utf8)])
        guard (1...mostLanguages).contains(distinct.count) else { return nil }
        let names = distinct.sorted { $0.lexicographicallyPrecedes($1) }.map { String(decoding: $0, as: UTF8.self) }
        return names.contains { $0.isLonger(than: 35) } ? nil : names
    }
}

private let mostLanguages = 200
