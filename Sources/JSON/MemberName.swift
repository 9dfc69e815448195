/// A member's name as a key, compared byte for byte: `String` takes canonically equivalent spellings for equal.
package struct MemberName: Hashable, Sendable {
    private let utf8: ArraySlice<UInt8>

    init(_ utf8: ArraySlice<UInt8>) { self.utf8 = utf8 }

    package init(_ name: String) { utf8 = Array(name.utf8)[...] }
}
