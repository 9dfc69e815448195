/// The file of an operator's logo, an SVG or a PNG, that may be shown on every page. It can load nothing and run nothing.
package struct BrandLogo: Sendable {
    let asset: Asset

    package struct Refused: Error, CustomStringConvertible {
        package let description: String
    }

    package static let path = "/oauth/logo"
    /// Bytes. It is sent to every browser that opens a page for the first time.
    package static let largest = 65_536

    /// - Throws: why the file is no logo.
    package init(_ bytes: [UInt8]) throws(Refused) {
        guard bytes.count <= Self.largest else {
            throw Refused(description: "has \(bytes.count) bytes; use a file of at most \(Self.largest)")
        }
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            guard bytes.count > 24, bytes[12..<16].elementsEqual("IHDR".utf8) else {
                throw Refused(description: "is a PNG that ends before its size")
            }
            asset = Asset(path: Self.path, mediaType: "image/png", bytes)
            return
        }
        guard let text = String(validating: bytes, as: UTF8.self), let drawing = SVGReader(text) else {
            throw Refused(description: "is neither a PNG nor an SVG in UTF-8")
        }
        if let fault = drawing.fault { throw Refused(description: fault) }
        asset = Asset(path: Self.path, mediaType: "image/svg+xml", bytes)
    }
}

/// Reads an SVG far enough to see what it could load or run. What it does not understand it refuses.
private struct SVGReader {
    /// Why the drawing is refused; nil: it is harmless.
    private(set) var fault: String?

    /// Elements that only draw. Others could load something, run something, or show HTML.
    private static let harmless: Set = [
        "svg", "g", "defs", "title", "desc", "metadata", "path", "rect", "circle", "ellipse", "line", "polyline",
        "polygon",
        "text", "tspan", "use", "symbol", "linearGradient", "radialGradient", "stop", "clipPath", "mask", "pattern",
        "style", "filter", "feGaussianBlur", "feOffset", "feBlend", "feFlood", "feComposite", "feColorMatrix",
        "feMerge",
        "feMergeNode",
    ]

    /// Nil if the text is no SVG.
    init?(_ text: String) {
        var rest = Substring(text)
        if rest.unicodeScalars.first == "\u{FEFF}" { rest.unicodeScalars.removeFirst() }
        var isFirst = true
        while let start = rest.utf8.firstIndex(of: UInt8(ascii: "<")) {
            look(at: rest[..<start])
            rest = rest[start...]
            if rest.hasPrefix("<!--") {
                guard let end = rest.firstRange(of: "-->") else { return nil }
                rest = rest[end.upperBound...]
                continue
            }
            guard let end = Self.end(ofTag: rest) else { return nil }
            let tag = rest[rest.utf8.index(after: start)..<end]
            rest = rest[rest.utf8.index(after: end)...]
            if tag.hasPrefix("?xml ") && isFirst { continue }
            if tag.hasPrefix("!") || tag.hasPrefix("?") {
                note("has <\(tag.prefix(12))…, which an SVG for a page must not have")
                continue
            }
            if tag.hasPrefix("/") { continue }
            let name = String(tag.prefix { !$0.isWhitespace && $0 != "/" })
            if isFirst && name != "svg" { return nil }
            isFirst = false
            if !Self.harmless.contains(name) { note("has the element <\(name)>; use only what draws shapes") }
            look(atAttributes: tag.dropFirst(name.count))
        }
        look(at: rest)
        if isFirst { return nil }
    }

    /// The `>` that ends the tag at the beginning; one in an attribute's value does not.
    private static func end(ofTag text: Substring) -> String.Index? {
        var quote: UInt8?
        return text.utf8.firstIndex { byte in
            switch (byte, quote) {
            case (UInt8(ascii: ">"), nil): return true
            case (UInt8(ascii: "\""), nil), (UInt8(ascii: "'"), nil): quote = byte
            case (let byte, let open?) where byte == open: quote = nil
            default: break
            }
            return false
        }
    }

    private mutating func note(_ text: String) { if fault == nil { fault = text } }

    /// Text between tags; of a `style` it is CSS.
    private mutating func look(at text: Substring) {
        let lower = text.lowercased()
        if lower.contains("@import") { note("has @import; put all styles into the file") }
        look(atLinks: lower)
    }

    private mutating func look(atAttributes text: Substring) {
        for match in text.matches(of: /([^\s="'\/]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/) {
            let (name, value) = (match.1.lowercased(), (match.2 ?? match.3 ?? "").lowercased())
            if name.hasPrefix("on") { note("has the attribute \(name), a script") }
            let isLink = name == "href" || name.hasSuffix(":href") || name == "src" || name.hasSuffix(":src")
            if isLink, !value.hasPrefix("#") { note("refers to \(value.prefix(60)); use only what is in the file") }
            look(atLinks: value)
        }
    }

    /// `url(…)` may only name a part of the drawing. A backslash or a character reference could spell it otherwise.
    private mutating func look(atLinks text: String) {
        if text.contains("\\") { note("has a backslash, which may hide a reference") }
        if text.contains("&#") { note("has a character reference, which may hide another one") }
        for match in text.matches(of: /url\s*\(\s*["']?\s*([^)]{0,60})/) where !match.1.hasPrefix("#") {
            note("refers to \(match.1); use only what is in the file")
        }
    }
}
