import Testing
import Text

/// Both ways to count, each for the limits that count that way.
@Suite struct PrefixTests {
    @Test(arguments: [
        ("abc", 2, "ab"), ("abc", 3, "abc"), ("", 1, ""), ("홍길동", 2, "홍길"), ("👩\u{200D}👩\u{200D}👧", 1, "👩"),
        ("e\u{301}", 1, "e"), ("a😀", 2, "a😀"),
    ])
    func scalarsAreWhatColumnsCount(text: String, count: Int, expected: String) {
        #expect(text.prefix(scalars: count).utf8.elementsEqual(expected.utf8))
    }

    @Test(arguments: [
        ("abc", 3, "abc"), ("abcd", 3, "abc"), ("äöü", 2, "äö"), ("a😀", 2, "a\u{FFFD}"), ("a😀", 3, "a😀"),
        ("e\u{301}", 1, "e"), ("", 0, ""), ("😀", 1, "\u{FFFD}"),
    ])
    func codeUnitsNeverLeaveHalfAPair(text: String, count: Int, expected: String) {
        #expect(text.prefix(utf16: count).utf8.elementsEqual(expected.utf8))
    }
}
