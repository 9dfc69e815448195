/// One value of a parsed text, read in place: only what is asked for is copied. For batches, of which a copy would be read once
/// and dropped.
package struct ParsedValue: Sendable {
    private let document: Document
    private let node: Int

    init(_ node: Int, of document: Document) {
        self.document = document
        self.node = node
    }

    /// The elements in order; nil unless it is an array.
    package var elements: [ParsedValue]? {
        guard document.kind(node) == .array else { return nil }
        return document.elements(node).map { ParsedValue($0, of: document) }
    }

    /// Nil unless it is an object.
    package var object: ParsedObject? {
        document.kind(node) == .object ? ParsedObject(node, of: document) : nil
    }

    /// Whether a string in it, names among them, has an escape. Without one it has no character below U+0020
    /// (RFC 8259 §7).
    package var hasEscapes: Bool { document.hasEscapes(in: node) }

    /// A copy.
    package var value: JSONValue { document.value(node) }

    /// A copy; nil unless it is a string.
    package var string: String? { document.string(node) }

    /// A string's value, in place if it has no escape; nil unless it is a string.
    package var utf8: ArraySlice<UInt8>? { document.isString(node) ? document.utf8(node) : nil }

    /// Whether it is `null` or `""`.
    package var isNullOrEmpty: Bool { document.isNullOrEmpty(node) }
}

/// An object whose members are read in place.
package struct ParsedObject: Sendable {
    let document: Document
    let node: Int

    fileprivate init(_ node: Int, of document: Document) {
        self.document = document
        self.node = node
    }

    /// The last member of that name, compared byte for byte. Looks through all members.
    package func member(_ name: String) -> ParsedValue? {
        document.member(name, .exact, of: node).map { ParsedValue($0, of: document) }
    }

    /// A copy of that member.
    package subscript(name: String) -> JSONValue? { document.member(name, .exact, of: node).map(document.value) }

    /// Its JSON text, if its members can be copied as they stand: at most 16, whose values are strings of at most so many bytes,
    /// without an escape and without a repeated name.
    package func plainText(valuesAtMost limit: Int) -> [UInt8]? { document.plainText(node, valuesAtMost: limit) }

    /// For a reader of many members.
    package var indexed: IndexedObject { IndexedObject(self) }
}
