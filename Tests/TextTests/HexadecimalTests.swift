import Testing
import Text

@Suite struct HexadecimalTests {
    @Test func everyByteComesBack() {
        let bytes = Array(UInt8.min...UInt8.max)
        #expect([0, 10, 160, 255].hexadecimal == "000aa0ff")
        #expect([UInt8](hexadecimal: bytes.hexadecimal.utf8) == bytes)
        #expect([UInt8](hexadecimal: bytes.hexadecimal.uppercased().utf8) == bytes)
        #expect([UInt8](hexadecimal: "".utf8) == [])
    }

    @Test(arguments: ["0", "000", "0g", "0x", "+1", "-1", " 1", "1 ", "00\n", "１１", "0:", "@0", "`0", "/0"])
    func otherTextsAreRefused(text: String) { #expect([UInt8](hexadecimal: text.utf8) == nil) }

    /// Every byte at every place among digits.
    @Test func eightDigitsAreANumber() {
        for place in 0..<8 {
            for byte in UInt8.min...UInt8.max {
                var digits = Array("1a9F0Af8".utf8)
                digits[place] = byte
                let areDigits = digits.allSatisfy { $0.hexadecimalValue != nil }
                let expected = areDigits ? UInt32(String(decoding: digits, as: UTF8.self), radix: 16) : nil
                let text = Array("-".utf8) + digits[..<4] + Array("-".utf8) + digits[4...]
                let found = text.span.hexadecimalNumber(at: 1, and: 6)
                if found != expected { Issue.record("\(byte) at \(place)") }
            }
        }
    }

    @Test func digitsAreASCII() {
        let digits = (UInt8.min...UInt8.max).filter { $0.hexadecimalValue != nil }
        #expect(String(decoding: digits, as: UTF8.self) == "0123456789ABCDEFabcdef")
        #expect(digits.compactMap(\.hexadecimalValue) == Array(0...15) + Array(10...15))
    }
}
