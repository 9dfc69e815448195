internal import Text

/// An object that is asked for many names: all its members are looked at once, not once for each name.
package struct IndexedObject: ~Copyable, Sendable {
    private let object: ParsedObject
    /// The nodes of names, at the places that the names' bytes give, or at the next ones that were free. Zero is the root, which is
    /// no name: a free place. Of members with one name, the last comes last. Read as a span: an access to an element copies them all.
    private var places = InlineArray<64, Int32>(repeating: 0)
    /// If not, members are looked for one by one.
    private let isIndexed: Bool

    package init(_ object: ParsedObject) {
        self.object = object
        isIndexed = object.document.place(namesOf: object.node, in: places.mutableSpan)
    }

    /// A copy of the last member of that name, compared byte for byte.
    package subscript(name: String) -> JSONValue? {
        guard isIndexed else { return object[name] }
        return object.document.member(name, places.span).map(object.document.value)
    }
}

extension Document {
    /// - Returns: whether each name has a place. An escaped name has none, and neither has any beyond the 48th.
    fileprivate func place(namesOf object: Int, in places: consuming MutableSpan<Int32>) -> Bool {
        let (bytes, nodes) = (bytes, nodes)
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

    /// The node of the value of the last member of that name.
    fileprivate func member(_ name: String, _ places: Span<Int32>) -> Int? {
        let (bytes, nodes) = (bytes, nodes)
        let (text, node, name) = (bytes.span, nodes.span, name.utf8Span.span)
        var found: Int?
        var place = place(of: name)
        while places[place] != 0 {
            let child = Int(places[place])
            if text.extracting(Int(node[child].start)..<Int(node[child].end)).isEqual(to: name) {
                found = child + 1
            }
            place = following(place)
        }
        return found
    }

    private func place(of name: Span<UInt8>) -> Int {
        let count = name.count
        if count == 0 { return 0 }
        return (Int(name[0]) + 2 * Int(name[count / 2]) + 3 * Int(name[count - 1]) + 2 * count) & 63
    }

    private func following(_ place: Int) -> Int { (place + 1) & 63 }
}
