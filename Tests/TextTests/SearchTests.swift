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

    @Test func aByteBelowALimitIsFoundEverywhere() {
        for limit in [1, 0x20, 128] as [UInt8] {
            for count in 0...20 {
                var text = [UInt8](repeating: limit, count: count)
                #expect(!contains(text, below: limit))
                for index in text.indices {
                    for byte in UInt8.min...UInt8.max {
                        text[index] = byte
                        let isFound = contains(text, below: limit)
                        if isFound != (byte < limit) { Issue.record("\(byte) at \(index) of \(count), below \(limit)") }
                    }
                    text[index] = 0xFF
                }
            }
        }
    }

    /// Every byte at each place of a word and behind it, among letters in lower case.
    @Test func onlyLettersInUpperCaseAreFound() {
        for place in 0..<11 {
            for byte in UInt8.min...UInt8.max {
                var text = Array("azmazmazmaz".utf8)
                text[place] = byte
                let isFound = firstUpperCase(in: text, from: 0) == place
                #expect(isFound == (65...90).contains(byte), "\(byte) at \(place)")
                #expect(firstUpperCase(in: text, from: place + 1) == 11)
            }
        }
        #expect(firstUpperCase(in: [], from: 0) == 0)
        // The first of several in one word, from each place on.
        let several = Array("aBcDeFgHiJ".utf8)
        for start in 0..<10 { #expect(firstUpperCase(in: several, from: start) == start | 1) }
    }

    /// The first of two that are there, from each index on.
    @Test func theFirstByteIsFoundFromEachIndexOn() {
        for other in [0x24, 0x26, 0x00, 0xA5, 0xFF] as [UInt8] {
            for count in 0...20 {
                var text = [UInt8](repeating: other, count: count)
                for start in 0...count { #expect(first(UInt8(ascii: "%"), in: text, from: start) == count) }
                for index in text.indices {
                    text[index] = UInt8(ascii: "%")
                    let second = min(index + 3, count - 1)
                    let replaced = text[second]
                    text[second] = UInt8(ascii: "%")
                    for start in 0...count {
                        let expected = start <= index ? index : start <= second ? second : count
                        #expect(first(UInt8(ascii: "%"), in: text, from: start) == expected)
                    }
                    text[second] = replaced
                    text[index] = other
                }
            }
        }
    }

    @Test func zeroBytesAreFoundToo() {
        let text = [UInt8](repeating: 1, count: 9)
        #expect(!contains(text, 0, or: 2))
        #expect(contains(text + [0], 0, or: 2))
        #expect(first(0, in: text + [0], from: 0) == 9)
    }

    @Test func beginningsAndWordsAreCompared() {
        let text = "/oauth/Token".utf8Span.span
        let (isThere, isLonger) = (
            text.starts(with: "/oauth/".utf8Span.span) && text.starts(with: "".utf8Span.span),
            text.starts(with: "/oauth/Token/".utf8Span.span)
        )
        #expect(isThere && !isLonger)
        let isOther = text.starts(with: "/oauth:".utf8Span.span)
        #expect(!isOther)
        let words = [("BEARER", true), ("bEaReR", true), ("Bearer ", false), ("Beare", false), ("Bearep", false)]
        for (bytes, isWord) in words {
            let isFound = bytes.utf8Span.span.isCaseless("Bearer")
            #expect(isFound == isWord, "\(bytes)")
        }
    }

    // `#expect` takes no span.

    private func first(_ byte: UInt8, in text: [UInt8], from start: Int) -> Int {
        text.span.firstIndex(of: byte, from: start)
    }

    private func firstUpperCase(in text: [UInt8], from start: Int) -> Int { text.span.firstUpperCase(from: start) }

    private func contains(_ text: [UInt8], _ byte: UInt8, or other: UInt8) -> Bool {
        text.span.contains(byte, or: other)
    }

    private func contains(_ text: [UInt8], below limit: UInt8) -> Bool { text.span.contains(below: limit) }
}
