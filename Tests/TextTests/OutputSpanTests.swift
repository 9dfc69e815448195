import Testing
import Text

@Suite struct OutputSpanTests {
    @Test(arguments: [0, 1, -1, 9, 10, -10, 99, 1_000, 1_764_252_000_000, .max, .min] as [Int64])
    func numbersAreDecimal(_ number: Int64) {
        var text = Array("[".utf8)
        text.append(decimal: number)
        #expect(String(decoding: text, as: UTF8.self) == "[\(number)")
    }

    @Test func textsAreAppendedByteForByte() {
        var text: [UInt8] = []
        text.append(addingCapacity: 20) { text in
            text.append("é\0")
            text.append("")
            text.append(copying: [0xFF, 0x80].span)
        }
        #expect(text == [0xC3, 0xA9, 0, 0xFF, 0x80])
    }

    /// Eight at a time, and never beyond what was asked for.
    @Test(arguments: 0..<40) func bytesAreCopiedFromAnyPlaceToAnyPlace(count: Int) {
        let source = (0..<60).map { UInt8($0) }
        for start in 0..<10 {
            for before in 0..<10 {
                var text = [UInt8](repeating: 0xAA, count: before)
                text.append(addingCapacity: count + 1) { text in
                    text.append(copying: source.span.extracting(start..<start + count))
                    text.append(0xBB)
                }
                #expect(
                    text == [UInt8](repeating: 0xAA, count: before) + source[start..<start + count] + [0xBB])
            }
        }
    }
}
