import Testing
import Text

@Suite struct SearchTests {
    /// At each place of texts of each length around a word's, among bytes that are one more, one less, or far from it.
    @Test func eitherByteIsFoundEverywhere() {
        for other in [0x24, 0x26, 0x2A, 0x00, 0xA5, 0xFF] as [UInt8] {
            for count in 0...20 {
                var text = [UInt8](repeating: other, count: count)
                #expect(!contains(text, UInt8(ascii: "%"), or: UInt8(ascii: "+")))
                for index in text.indices {
                    for byte in [UInt8(ascii: "%"), UInt8(ascii: "+")] {
                        text[index] = byte
                        #expect(contains(text, UInt8(ascii: "%"), or: UInt8(ascii: "+")))
                    }
                    text[index] = other
                }
            }
        }
    }

    @Test func zeroBytesAreFoundToo() {
        let text = [UInt8](repeating: 1, count: 9)
        #expect(!contains(text, 0, or: 2))
        #expect(contains(text + [0], 0, or: 2))
    }

    /// `#expect` takes no span.
    private func contains(_ text: [UInt8], _ byte: UInt8, or other: UInt8) -> Bool {
        text.span.contains(byte, or: other)
    }
}
