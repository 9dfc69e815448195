extension OutputSpan<UInt8> {
    /// A byte at a time: most texts are short, and a call that copies takes as long as twenty bytes.
    @inlinable
    package mutating func append(_ text: String) { append(copying: text.utf8Span.span) }

    @inlinable
    package mutating func append(copying bytes: Span<UInt8>) {
        for index in bytes.indices { append(bytes[index]) }
    }

    /// In decimal: at most 20 bytes.
    package mutating func append(decimal number: Int64) {
        if number < 0 { append(UInt8(ascii: "-")) }
        // From the last digit on, which is the first one to be known.
        var digits = InlineArray<19, UInt8>(repeating: 0)
        var (count, rest) = (0, number.magnitude)
        repeat {
            digits[count] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
            count += 1
        } while rest > 0
        for index in (0..<count).reversed() { append(digits[index]) }
    }
}

extension [UInt8] {
    /// In decimal.
    package mutating func append(decimal number: Int64) {
        append(addingCapacity: 20) { text in text.append(decimal: number) }
    }
}
