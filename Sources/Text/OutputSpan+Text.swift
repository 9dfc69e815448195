extension OutputSpan<UInt8> {
    @inlinable
    package mutating func append(_ text: String) { append(copying: text.utf8Span.span) }

    /// Four or eight bytes at a time: a call of `memcpy` takes as long as to copy a hundred bytes in this way.
    @usableFromInline
    package mutating func append(copying source: Span<UInt8>) {
        let count = source.count
        guard count >= 4 else {
            for index in source.indices { append(source[index]) }
            return
        }
        precondition(count <= freeCapacity, "the bytes fit")
        // Unsafe is only that offsets are not checked: each is at most a word less than the count, which fits.
        unsafe withUnsafeMutableBufferPointer { buffer, initialized in
            guard let start = buffer.baseAddress else { return }
            let target = unsafe UnsafeMutableRawPointer(start + initialized)
            func copy<Word: FixedWidthInteger & BitwiseCopyable>(_ type: Word.Type, _ offset: Int) {
                let word = unsafe source.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: type)
                unsafe target.storeBytes(of: word, toByteOffset: offset, as: type)
            }
            // The last word may overlap the one before it.
            if count < 8 {
                copy(UInt32.self, 0)
                copy(UInt32.self, count - 4)
            } else {
                for offset in stride(from: 0, through: count - 8, by: 8) { copy(UInt64.self, offset) }
                copy(UInt64.self, count - 8)
            }
            initialized += count
        }
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
