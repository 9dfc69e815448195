/// The elements of a document, found by a strict reader: every element must be closed, and every attribute value
/// quoted.
struct Outline {
    struct Element {
        let name: String
        let attributes: [String: String]
        /// The names of the elements around it, outermost first.
        let parents: [String]
    }

    struct Malformed: Error, CustomStringConvertible {
        let description: String
    }

    private(set) var elements: [Element] = []
    /// The text between the tags, as it is written.
    private(set) var texts: [Substring] = []

    init(_ markup: String) throws {
        var open: [String] = []
        var rest = markup[...]
        while let start = rest.firstIndex(of: "<") {
            texts.append(rest[..<start])
            guard let end = rest[start...].firstIndex(of: ">") else { throw Malformed(description: "no end of a tag") }
            let tag = rest[rest.index(after: start)..<end]
            rest = rest[rest.index(after: end)...]
            if tag.hasPrefix("!") { continue }
            if tag.hasPrefix("/") {
                guard open.popLast() == String(tag.dropFirst()) else {
                    throw Malformed(description: "</\(tag.dropFirst())> inside \(open)")
                }
                continue
            }
            let isClosed = tag.hasSuffix("/")
            var inside = (isClosed ? tag.dropLast() : tag)[...]
            let name = String(inside.prefix { !$0.isWhitespace })
            inside = inside.dropFirst(name.count)
            elements.append(Element(name: name, attributes: try Self.attributes(&inside), parents: open))
            if !isClosed && !Self.void.contains(name) { open.append(name) }
        }
        texts.append(rest)
        guard open.isEmpty else { throw Malformed(description: "left open: \(open)") }
    }

    func all(_ name: String) -> [Element] { elements.filter { $0.name == name } }

    private static let void: Set = ["meta", "link", "input", "img", "br", "hr"]

    private static func attributes(_ text: inout Substring) throws -> [String: String] {
        var attributes: [String: String] = [:]
        while true {
            text = text.drop { $0.isWhitespace }
            let name = String(text.prefix { $0 != "=" && !$0.isWhitespace })
            if name.isEmpty { return attributes }
            text = text.dropFirst(name.count)
            var value = ""
            if text.hasPrefix("=") {
                guard text.hasPrefix("=\"") else { throw Malformed(description: "\(name) is not quoted") }
                text = text.dropFirst(2)
                value = String(text.prefix { $0 != "\"" })
                guard text.dropFirst(value.count).hasPrefix("\"") else {
                    throw Malformed(description: "\(name) does not end")
                }
                text = text.dropFirst(value.count + 1)
            }
            guard attributes.updateValue(value, forKey: name) == nil else {
                throw Malformed(description: "\(name) stands there twice")
            }
        }
    }
}
