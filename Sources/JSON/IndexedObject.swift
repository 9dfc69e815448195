internal import Text

/// An object that is asked for many names: all its members are looked at once, not once for each name.
package struct IndexedObject: ~Copyable, Sendable {
    private let object: ParsedObject
    // The document's, kept here so that they are not retained for each name.
    private let bytes: [UInt8]
    private let nodes: [Document.Node]
    /// The nodes of names, at the places that the names' bytes give, or at the next ones that were free. Zero is the root, which is
    /// no name: a free place. Of members with one name, the last comes last. Read as a span: an access to an element copies them all.
    private var places = InlineArray<64, Int32>(repeating: 0)
    /// If not, members are looked for one by one.
    private let isIndexed: Bool

    package init(_ object: ParsedObject) {
        self.object = object
        bytes = object.document.bytes
        nodes = object.document.nodes
        isIndexed = Self.place(namesOf: object.node, bytes, nodes, in: places.mutableSpan)
    }

    /// - Returns: whether each name has a place. An escaped name has none, and neither has any beyond the 48th.
    private static func place(
        namesOf object: Int, _ bytes: [UInt8], _ nodes: [Document.Node], in places: consuming MutableSpan<Int32>
    ) -> Bool {
        let (text, node) = (bytes.span, nodes.span)
        // A quarter of the places stays free, where each walk ends.
        var free = 48
        var child = object + 1
        let end = Int(node[object].next)
        while child < end {
            let name = node[child]
            guard free > 0, name.kind != .escapedString else { return false }
            free -= 1
            var place = place(of: text.extracting(Int(name.start)..<Int(name.end)))
            while places[place] != 0 { place = following(place) }
            places[place] = Int32(child)
            child = Int(node[child + 1].next)
        }
        return true
    }

    /// The last member of that name, compared byte for byte, read in place.
    package func parsed(_ name: String) -> ParsedValue? {
        guard isIndexed else { return object.member(name) }
        return member(name).map { ParsedValue($0, of: object.document) }
    }

    /// The node of the value of the last member of that name.
    private func member(_ name: String) -> Int? {
        let (text, node, places, name) = (bytes.span, nodes.span, places.span, name.utf8Span.span)
        var found: Int?
        var place = Self.place(of: name)
        while places[place] != 0 {
            let child = Int(places[place])
            if text.extracting(Int(node[child].start)..<Int(node[child].end)).isEqual(to: name) {
                found = child + 1
            }
            place = Self.following(place)
        }
        return found
    }

    private static func place(of name: Span<UInt8>) -> Int {
        let count = name.count
        if count == 0 { return 0 }
        return (Int(name[0]) + 2 * Int(name[count / 2]) + 3 * Int(name[count - 1]) + 2 * count) & 63
    }

    private static func following(_ place: Int) -> Int { (place + 1) & 63 }
}
