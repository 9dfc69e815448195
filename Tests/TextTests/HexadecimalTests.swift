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

    @Test func digitsAreASCII() {
        let digits = (UInt8.min...UInt8.max).filter { $0.hexadecimalValue != nil }
        #expect(String(decoding: digits, as: UTF8.self) == "0123456789ABCDEFabcdef")
        #expect(digits.compactMap(\.hexadecimalValue) == Array(0...15) + Array(10...15))
    }
}
