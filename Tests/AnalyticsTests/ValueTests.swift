import Analytics
import Testing
import Text
import Time

struct ValueTests {
    @Test(arguments: [
        "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff",
        "01234567-89ab-cdef-0123-456789abcdef",
    ])
    func aUUIDIsWrittenAsItWasRead(text: String) {
        #expect(UUID(text)?.description == text)
        #expect(UUID(text.uppercased())?.description == text)
    }

    @Test(arguments: [
        "", "0", "0123456789abcdef0123456789abcdef", "01234567-89ab-cdef-0123-456789abcde",
        "01234567-89ab-cdef-0123-456789abcdef0", "01234567-89ab-cdef-0123-456789abcdeg",
        "{01234567-89ab-cdef-0123-456789abcdef}", " 1234567-89ab-cdef-0123-456789abcdef",
    ])
    func anythingElseIsNone(text: String) { #expect(UUID(text) == nil) }

    /// Every byte at each place of one.
    @Test func eachByteOfAUUIDIsRead() {
        let text = Array("01234567-89AB-cdef-0123-456789abcdef".utf8)
        for place in text.indices {
            for byte in UInt8.min...UInt8.max {
                var changed = text
                changed[place] = byte
                let isHyphen = [8, 13, 18, 23].contains(place)
                let isOne = isHyphen ? byte == UInt8(ascii: "-") : byte.hexadecimalValue != nil
                let expected = isOne ? String(decoding: changed, as: UTF8.self).lowercased() : nil
                if UUID(changed.span)?.description != expected { Issue.record("\(byte) at \(place)") }
            }
        }
    }

    @Test func freshUUIDsAreOfVersion7AndSortByTime() throws {
        let (first, second) = (UUID(at: Timestamp(seconds: 1_800_000_000)), UUID(at: Timestamp(seconds: 1_800_000_001)))
        #expect(first < second)
        #expect(first.description.dropFirst(14).first == "7")
        #expect(["8", "9", "a", "b"].contains(first.description.dropFirst(19).first))
        #expect(UUID(at: Timestamp(seconds: 1)) != UUID(at: Timestamp(seconds: 1)))
    }

    /// The characters that ECMAScript's `trim` removes: WhiteSpace and LineTerminator, with Unicode's category Zs.
    @Test func trimmingIsThatOfECMAScript() {
        let space: Set<UInt32> = [0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0xFEFF, 0x2028, 0x2029]
        for value in 0...0x10FFFF as ClosedRange<UInt32> {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let isSpace = space.contains(value) || scalar.properties.generalCategory == .spaceSeparator
            let text = "\(scalar)x\(scalar)y\(scalar)"
            let expected = isSpace ? "x\(scalar)y" : text
            if !text.trimmed.utf8.elementsEqual(expected.utf8) { Issue.record("U+\(String(value, radix: 16))") }
        }
        #expect("".trimmed == "" && " \u{FEFF}\n".trimmed == "" && " a b ".trimmed == "a b")
    }

    @Test func lengthsAreUTF16CodeUnits() {
        #expect(!String(repeating: "😀", count: 2).isLonger(than: 4))
        #expect(String(repeating: "😀", count: 2).isLonger(than: 3))
        #expect("e\u{301}".isLonger(than: 1))
    }

    @Test func endUsersAreComparedByteForByte() {
        #expect(EndUserID(rawValue: "e\u{301}") != EndUserID(rawValue: "\u{E9}"))
        #expect(Set([EndUserID(rawValue: "e\u{301}"), EndUserID(rawValue: "\u{E9}")]).count == 2)
        #expect(EndUserID(rawValue: "owl_anon_").isAnonymous)
        #expect(!EndUserID(rawValue: "owl_anon").isAnonymous)
        #expect(!EndUserID(rawValue: "Owl_anon_x").isAnonymous)
        // The prefix is compared as bytes, so a combining mark after it does not hide it.
        #expect(EndUserID(rawValue: "owl_anon_\u{301}").isAnonymous)
    }
}
