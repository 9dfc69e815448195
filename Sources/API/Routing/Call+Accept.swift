import HTTP

extension Call {
    /// Whether the client prefers JSON to HTML (RFC 9110 §12.5.1). Browsers do not, nor do clients without a
    /// preference.
    var prefersJSON: Bool {
        let field = request.headers.first("accept") ?? "*/*"
        return quality(of: "application/json", in: field) > quality(of: "text/html", in: field)
    }
}

/// The quality of a media type, from 0 to 1, by the most specific range that matches it.
private func quality(of type: String, in field: String) -> Double {
    let ranges = field.split(separator: ",").map { member in
        let parts = member.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
        let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) }
        return (name: parts.first ?? "", quality: weight ?? 1)
    }
    let family = type.prefix { $0 != "/" } + "/*"
    return [type, String(family), "*/*"].lazy
        .compactMap { name in ranges.first { $0.name == name }?.quality }.first ?? 0
}
