/// What the members of a type are called, by the type of its keys.
///
/// A property's member has its name in snake_case, so that no type spells out what follows from its declaration:
/// `clientID` is `client_id`, `redirectURIs` is `redirect_uris`. Names that somebody chose stand as they are: the raw values
/// of `CodingKeys: String`, and those of key types that take any name, as a dictionary's does.
struct MemberNames {
    private enum Kind {
        case properties, rawValues, anything
    }

    private let kind: Kind

    static func of(_ type: any CodingKey.Type) -> MemberNames {
        MemberNames(
            kind: type is any RawRepresentable.Type
                ? .rawValues : type.init(stringValue: "") == nil ? .properties : .anything)
    }

    /// Whether keys are named for properties: no key can be made from the name of its member then.
    var areProperties: Bool { kind == .properties }

    /// What stands before a key's value: the name in quotes, and a colon. Made anew each time: a lock that all threads take
    /// for every object costs more.
    func text(of key: String) -> [UInt8] {
        var text: [UInt8] = []
        appendQuoted(areProperties ? snakeCase(key) : Array(key.utf8), to: &text)
        text.append(UInt8(ascii: ":"))
        return text
    }

    /// The name in UTF-8.
    func utf8(of key: String) -> ArraySlice<UInt8> { (areProperties ? snakeCase(key) : Array(key.utf8))[...] }
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
