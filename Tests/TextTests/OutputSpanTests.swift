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
}
