/// A UUID as MariaDB writes it: 8-4-4-4-12 hexadecimal digits in lower case.
package func uuidText(high: UInt64, low: UInt64) -> String {
    String(unsafeUninitializedCapacity: uuidTextLength) { text in
        writeUUID(high: high, low: low, to: UnsafeMutableRawBufferPointer(text))
        return uuidTextLength
    }
}

let uuidTextLength = 36

func writeUUID(high: UInt64, low: UInt64, to text: UnsafeMutableRawBufferPointer) {
    let digits: StaticString = "0123456789abcdef"
    var position = 0
    for index in 0..<16 {
        if index == 4 || index == 6 || index == 8 || index == 10 {
            text[position] = UInt8(ascii: "-")
            position += 1
        }
        let byte = Int(truncatingIfNeeded: (index < 8 ? high : low) >> UInt64(56 - 8 * (index % 8))) & 0xFF
        text[position] = digits.utf8Start[byte >> 4]
        text[position + 1] = digits.utf8Start[byte & 15]
        position += 2
    }
}
