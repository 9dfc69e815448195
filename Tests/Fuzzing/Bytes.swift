extension [UInt8] {
    var text: String { String(decoding: self, as: UTF8.self) }

    /// In lines, empty ones included.
    var lines: [[UInt8]] { split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Array.init) }
}

extension ArraySlice<UInt8> {
    var text: String { String(decoding: self, as: UTF8.self) }
}

extension String {
    /// `==` takes canonically equivalent spellings for equal.
    func isIdentical(to other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
