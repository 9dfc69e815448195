internal import Synchronization
internal import Text

/// What the members of a type are called, by the type of its keys.
///
/// A property's member has its name in snake_case, so that no type spells out what follows from its declaration:
/// `clientID` is `client_id`, `redirectURIs` is `redirect_uris`. Names that somebody chose stand as they are: the raw values
/// of `CodingKeys: String`, and those of key types that take any name, as a dictionary's does.
struct MemberNames {
    /// The type of the keys, if they are named for properties; nil if names stand as they are.
    private let keys: ObjectIdentifier?

    /// Whether keys are named for properties: no key can be made from the name of its member then.
    var areProperties: Bool { keys != nil }

    static let exact = MemberNames(keys: nil)

    static func of(_ type: any CodingKey.Type) -> MemberNames {
        MemberNames(keys: NamedTypes.shared.areNamedForProperties(type) ? ObjectIdentifier(type) : nil)
    }

    /// Appends a member: a comma if it is not the first one, the name in quotes, a colon, and the value.
    ///
    /// - Parameters:
    ///   - position: how many members the object has before it.
    ///   - size: how many bytes the value takes at most.
    ///   - value: appends it.
    func append(
        _ key: String, at position: Int, to bytes: inout [UInt8], atMost size: Int,
        _ value: (inout OutputSpan<UInt8>) -> Void
    ) {
        if let keys, let name = unsafe WrittenNames.shared.name(of: key, in: keys, at: position) {
            bytes.append(addingCapacity: name.count + 1 + size) { text in
                if position > 0 { text.append(UInt8(ascii: ",")) }
                unsafe text.append(copying: name.span)
                value(&text)
            }
        } else if areProperties {
            let key = key.utf8Span.span
            bytes.append(addingCapacity: 2 * key.count + 4 + size) { text in
                if position > 0 { text.append(UInt8(ascii: ",")) }
                appendName(key, to: &text)
                value(&text)
            }
        } else {
            if position > 0 { bytes.append(UInt8(ascii: ",")) }
            appendQuoted(key, to: &bytes)
            bytes.append(addingCapacity: size + 1) { text in
                text.append(UInt8(ascii: ":"))
                value(&text)
            }
        }
    }

    /// Whether a member's name is that of a key.
    func isName(_ text: Span<UInt8>, of key: Span<UInt8>) -> Bool {
        guard areProperties else { return text.isEqual(to: key) }
        var position = 0
        for index in key.indices {
            var byte = key[index]
            if byte.isUpperCase {
                if beginsWord(index, of: key) {
                    guard position < text.count, text[position] == UInt8(ascii: "_") else { return false }
                    position += 1
                }
                byte |= 0x20
            }
            guard position < text.count, text[position] == byte else { return false }
            position += 1
        }
        return position == text.count
    }

    /// The name in UTF-8.
    func utf8(of key: String) -> [UInt8] {
        // An empty array is shared by all threads, and appending nothing would write its count.
        guard areProperties, !key.isEmpty else { return Array(key.utf8) }
        let key = key.utf8Span.span
        var name: [UInt8] = []
        name.append(addingCapacity: 2 * key.count) { name in appendSnakeCase(key, to: &name) }
        return name
    }
}

/// In quotes, with the colon: at most twice as long as the key, and three bytes.
private func appendName(_ key: Span<UInt8>, to text: inout OutputSpan<UInt8>) {
    text.append(UInt8(ascii: "\""))
    appendSnakeCase(key, to: &text)
    text.append(UInt8(ascii: "\""))
    text.append(UInt8(ascii: ":"))
}

private func appendSnakeCase(_ key: Span<UInt8>, to name: inout OutputSpan<UInt8>) {
    var start = 0
    while true {
        let index = key.firstUpperCase(from: start)
        name.append(copying: key.extracting(start..<index))
        if index == key.count { return }
        if beginsWord(index, of: key) { name.append(UInt8(ascii: "_")) }
        name.append(key[index] | 0x20)
        start = index + 1
    }
}

/// Whether an upper-case letter of a property's name begins a word. An acronym is one word, its plural, too: `lastSDKName`,
/// `redirectURIs`. Digits belong to the word before them: `sha256Digest`.
private func beginsWord(_ index: Int, of name: Span<UInt8>) -> Bool {
    guard index > 0 else { return false }
    if !name[index - 1].isUpperCase { return true }
    // Behind another upper-case letter it does if a lower-case one follows, but not the `s` of a plural.
    let next = index + 1
    guard next < name.count, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(name[next]) else { return false }
    return name[next] != UInt8(ascii: "s") || next + 1 < name.count && !name[next + 1].isUpperCase
}

/// Remembers of each type of keys whether they are named for properties: to find out takes as long as to write five members.
///
/// A slot has a type's address, whose lowest bit, always zero, says instead whether they are. A slot is read and written in one
/// piece, so another type may take it over at any time, and there is no lock.
private struct NamedTypes: ~Copyable {
    static let shared = NamedTypes()

    /// A power of two, several times as many as there are types.
    private let slots = InlineArray<1024, Atomic<UInt>> { _ in Atomic(0) }

    func areNamedForProperties(_ type: any CodingKey.Type) -> Bool {
        let address = UInt(bitPattern: ObjectIdentifier(type))
        let index = Int(address >> 4 ^ address >> 14) & (slots.count - 1)
        let known = slots[index].load(ordering: .relaxed)
        if known & ~1 == address { return known & 1 == 1 }
        let areProperties = !(type is any RawRepresentable.Type) && type.init(stringValue: "") == nil
        slots[index].store(address | (areProperties ? 1 : 0), ordering: .relaxed)
        return areProperties
    }
}

/// Keeps names of properties that were written, by the type of their keys and their position in the object.
///
/// A slot is filled once and never emptied: the name that came first stays, and another one that falls on its slot is made anew each
/// time. So there is no lock, and at most as many names are kept as there are slots. To read one writes no memory that threads
/// share, as a count of references would be.
private struct WrittenNames: ~Copyable {
    static let shared = WrittenNames()

    @safe private final class Name {
        let key: String
        /// In quotes, with the colon.
        let text: UnsafeMutableBufferPointer<UInt8>

        init(_ key: String) {
            self.key = key
            var name: [UInt8] = []
            let bytes = key.utf8Span.span
            name.append(addingCapacity: 2 * bytes.count + 3) { text in appendName(bytes, to: &text) }
            unsafe text = .allocate(capacity: name.count)
            _ = unsafe text.initialize(fromContentsOf: name)
        }

        deinit { unsafe text.deallocate() }
    }

    /// The addresses of names, which are never freed; zero at first. A power of two, several times as many as there are members.
    private let slots = InlineArray<4096, Atomic<UInt>> { _ in Atomic(0) }

    /// As it is written. nil if the slot had no name until now, or has another one.
    func name(of key: String, in keys: ObjectIdentifier, at position: Int) -> UnsafeBufferPointer<UInt8>? {
        let address = Int(bitPattern: keys)
        let index = ((address >> 4 ^ address >> 14) &+ 37 &* position) & (slots.count - 1)
        guard let name = unsafe UnsafeRawPointer(bitPattern: slots[index].load(ordering: .acquiring)) else {
            let name = unsafe Unmanaged.passRetained(Name(key))
            let address = unsafe UInt(bitPattern: name.toOpaque())
            let (isStored, _) = slots[index].compareExchange(expected: 0, desired: address, ordering: .releasing)
            if !isStored { unsafe name.release() }
            return nil
        }
        // Unsafe is only that a name could be freed.
        return unsafe Unmanaged<Name>.fromOpaque(name)._withUnsafeGuaranteedRef { name in
            // `==` is fast for the same literal. It takes canonically equivalent spellings for equal, which have other lengths.
            let isSame = name.key.utf8.count == key.utf8.count && name.key == key
            return unsafe isSame ? UnsafeBufferPointer(name.text) : nil
        }
    }
}
