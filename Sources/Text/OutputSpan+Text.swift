extension OutputSpan<UInt8> {
    @inlinable
    package mutating func append(_ text: String) { append(copying: text.utf8Span.span) }

    /// Eight bytes at a time: a call of `memcpy` takes as long as to copy a hundred bytes in this way.
    @usableFromInline
    package mutating func append(copying source: Span<UInt8>) {
        let count = source.count
        guard count >= 8 else {
            for index in source.indices { append(source[index]) }
            return
        }
        precondition(count <= freeCapacity, "the bytes fit")
        // Unsafe is only that offsets are not checked: each is at most eight less than the count, which fits.
        unsafe withUnsafeMutableBufferPointer { buffer, initialized in
            guard let start = buffer.baseAddress else { return }
            let target = unsafe UnsafeMutableRawPointer(start + initialized)
            func copyWord(_ offset: Int) {
                let word = unsafe source.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
                unsafe target.storeBytes(of: word, toByteOffset: offset, as: UInt64.self)
            }
            var offset = 0
            while offset + 8 <= count {
                copyWord(offset)
                offset += 8
            }
            // The last word overlaps the one before it.
            if offset < count { copyWord(count - 8) }
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
