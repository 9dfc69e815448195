internal import Synchronization

/// What the members of a type are called, by the type of its keys: worked out at each key's first use, then kept.
///
/// A property's member has its name in snake_case, so that no type spells out what follows from its declaration:
/// `clientID` is `client_id`, `redirectURIs` is `redirect_uris`. Names that somebody chose stand as they are: the raw values
/// of `CodingKeys: String`, and those of key types that take any name, as a dictionary's does.
struct MemberNames {
    private enum Kind {
        case properties, rawValues, anything
    }

    private static let known = Mutex<[ObjectIdentifier: MemberNames]>([:])

    private let type: ObjectIdentifier
    private let kind: Kind
    /// In the order of their first use, which mostly is that of every use.
    private var names: [(key: String, text: [UInt8])] = []

    static func of(_ type: any CodingKey.Type) -> MemberNames {
        let id = ObjectIdentifier(type)
        if let names = known.withLock({ $0[id] }) { return names }
        // Asking the runtime what it knows of a type takes longer than writing an object.
        let kind: Kind =
            if type is any RawRepresentable.Type {
                .rawValues
            } else {
                type.init(stringValue: "") == nil ? .properties : .anything
            }
        let names = MemberNames(type: id, kind: kind)
        known.withLock { $0[id] = names }
        return names
    }

    /// Whether keys are named for properties: no key can be made from the name of its member then.
    var areProperties: Bool { kind == .properties }

    /// What stands before a key's value: the name in quotes, and a colon.
    ///
    /// - Parameter position: where it is looked for first; then, where the next one probably is.
    func text(of key: String, at position: inout Int) -> [UInt8] {
        for _ in names.indices {
            if position >= names.count { position = 0 }
            defer { position += 1 }
            if names[position].key == key { return names[position].text }
        }
        return learn(key)
    }

    /// The name in UTF-8.
    func utf8(of key: String) -> ArraySlice<UInt8> {
        var position = 0
        return text(of: key, at: &position).dropFirst().dropLast(2)
    }

    private func learn(_ key: String) -> [UInt8] {
        var text: [UInt8] = []
        appendQuoted(areProperties ? snakeCase(key) : Array(key.utf8), to: &text)
        text.append(UInt8(ascii: ":"))
        if kind == .anything { return text }
        Self.known.withLock { [text] known in
            if known[type]?.names.contains(where: { $0.key == key }) == false { known[type]?.names.append((key, text)) }
        }
        return text
    }
}

/// A word begins at an upper-case letter. An acronym is one word, its plural, too: `lastSDKName`, `redirectURIs`. Digits
/// belong to the word before them: `sha256Digest`.
private func snakeCase(_ name: String) -> [UInt8] {
    let name = Array(name.utf8)
    func isUpperCase(_ index: Int) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(name[index]) }
    /// Whether an upper-case letter behind another one begins a word: a lower-case one follows, not the `s` of a plural.
    func endsAcronym(_ index: Int) -> Bool {
        let next = index + 1
        guard next < name.count, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(name[next]) else { return false }
        return name[next] != UInt8(ascii: "s") || next + 1 < name.count && !isUpperCase(next + 1)
    }
    return name.indices.flatMap { index in
        if !isUpperCase(index) { return [name[index]] }
        let beginsWord = index > 0 && (!isUpperCase(index - 1) || endsAcronym(index))
        return (beginsWord ? [UInt8(ascii: "_")] : []) + [name[index] | 0x20]
    }
}
