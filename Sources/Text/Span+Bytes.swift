extension Span<UInt8> {
    /// Byte for byte.
    @inlinable
    package func isEqual(to other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        for index in indices where self[index] != other[index] { return false }
        return true
    }
}

extension String {
    /// Byte for byte: `==` takes canonically equivalent spellings for equal.
    @inlinable
    package func hasSameBytes(as other: String) -> Bool {
        // Most texts differ in length already, which costs no call.
        utf8.count == other.utf8.count && utf8Span.span.isEqual(to: other.utf8Span.span)
    }
}
