import OpenSSL
import Testing
import Text

@Suite struct Base64Tests {
    /// RFC 4648 §10 without padding, and RFC 7515, appendix C.
    @Test(
        arguments: [
            ([], ""), (Array("f".utf8), "Zg"), (Array("fo".utf8), "Zm8"), (Array("foo".utf8), "Zm9v"),
            (Array("foob".utf8), "Zm9vYg"), (Array("fooba".utf8), "Zm9vYmE"), (Array("foobar".utf8), "Zm9vYmFy"),
            ([3, 236, 255, 224, 193], "A-z_4ME"),
        ] as [([UInt8], String)])
    func knownTexts(bytes: [UInt8], text: String) {
        #expect(Base64URL.encode(bytes) == text)
        #expect(Base64URL.decode(text) == bytes)
    }

    @Test func everyLengthComesBack() {
        for count in 0...100 {
            let bytes = randomBytes(count)
            #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
        }
        #expect(Base64URL.encode(randomBytes(32)).utf8.count == 43)
    }

    /// RFC 4648 §10.
    @Test(
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ])
    func withPadding(text: String, encoded: String) {
        #expect(Base64.encode(Array(text.utf8)) == encoded)
        #expect(Base64.decode(encoded.utf8) == Array(text.utf8))
    }

    @Test func theStandardAlphabet() { #expect(Base64.encode([3, 236, 255, 224, 193]) == "A+z/4ME=") }

    @Test(arguments: [
        "Z", "Zm9vY", "Zg==", "Zm8=", "Zg=", "=", "Zm9v ", " Zm9v", "Zm 9v", "Zm9v\n", "Zm9v\r\n", "A+z/", "A+z_4ME",
        "Zm9v\u{0}",
        "Zé9v", "Zm9v.", "Zm9v%3D",
    ])
    func otherTextsAreRefused(text: String) { #expect(Base64URL.decode(text) == nil) }

    @Test func aForeignCharacterIsRefusedAtEachPlace() {
        for count in [2, 3, 4, 6, 7, 8, 15] {
            for index in 0..<count {
                for byte in [0, 0x2B, 0x2F, 0x3D, 0x5B, 0x60, 0x80, 0xFF] as [UInt8] {
                    var text = [UInt8](repeating: UInt8(ascii: "A"), count: count)
                    #expect(Base64URL.decode(text) == [UInt8](repeating: 0, count: count * 3 / 4))
                    text[index] = byte
                    #expect(Base64URL.decode(text) == nil)
                }
            }
        }
    }

    /// If they were accepted, several texts would stand for the same bytes.
    @Test func bitsBehindTheLastByteAreRefused() {
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        #expect(alphabet.filter { Base64URL.decode("A\($0)") != nil } == "AQgw")
        #expect(alphabet.filter { Base64URL.decode("AA\($0)") != nil } == "AEIMQUYcgkosw048")
        #expect(alphabet.filter { Base64URL.decode("AAA\($0)") != nil } == alphabet)
    }

    @Test(arguments: ["Zm9vYg==", "Zm9vYg", "Zm8=", "Zm8", "Zm9v", "+/+/", ""])
    func otherAlphabetWithOrWithoutPadding(text: String) throws {
        let plain = text.replacing("=", with: "").replacing("+", with: "-").replacing("/", with: "_")
        let bytes = try #require(Base64URL.decode(plain))
        #expect(Base64.decode(text.utf8) == bytes)
    }

    @Test(arguments: ["-_-_", "Zm9v===", "Zm=9", "Zh==", "Z", "Zm9v\n", "Zm 9v"])
    func otherTextsAreNoBase64(text: String) { #expect(Base64.decode(text.utf8) == nil) }
}
