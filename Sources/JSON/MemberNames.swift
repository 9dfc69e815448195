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

    /// Appends what stands before a key's value: the name in quotes, and a colon.
    ///
    /// Made anew each time, without an allocation: a table of names that all threads share would need a lock, which costs
    /// them more.
    func append(_ key: String, to bytes: inout [UInt8]) {
        if areProperties {
            bytes.append(UInt8(ascii: "\""))
            appendSnakeCase(key, to: &bytes)
            bytes.append(UInt8(ascii: "\""))
        } else {
            appendQuoted(key.utf8, to: &bytes)
        }
        bytes.append(UInt8(ascii: ":"))
    }

    /// The name in UTF-8.
    func utf8(of key: String) -> ArraySlice<UInt8> {
        guard areProperties else { return Array(key.utf8)[...] }
        var name: [UInt8] = []
        appendSnakeCase(key, to: &name)
        return name[...]
    }
}

/// A word begins at an upper-case letter. An acronym is one word, its plural, too: `lastSDKName`, `redirectURIs`. Digits
/// belong to the word before them: `sha256Digest`.
private func appendSnakeCase(_ name: String, to bytes: inout [UInt8]) {
    let upperCase = UInt8(ascii: "A")...UInt8(ascii: "Z")
    guard name.utf8.contains(where: upperCase.contains) else {
        bytes.append(contentsOf: name.utf8)
        return
    }
    let name = name.utf8Span.span
    func isUpperCase(_ index: Int) -> Bool { upperCase.contains(name[index]) }
    /// Whether an upper-case letter behind another one begins a word: a lower-case one follows, not the `s` of a plural.
    func endsAcronym(_ index: Int) -> Bool {
        let next = index + 1
        guard next < name.count, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(name[next]) else { return false }
        return name[next] != UInt8(ascii: "s") || next + 1 < name.count && !isUpperCase(next + 1)
    }
    for index in name.indices {
        guard isUpperCase(index) else {
            bytes.append(name[index])
            continue
        }
        if index > 0, !isUpperCase(index - 1) || endsAcronym(index) { bytes.append(UInt8(ascii: "_")) }
        bytes.append(name[index] | 0x20)
    }
}
