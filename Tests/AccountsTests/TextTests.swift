import Accounts
import Testing
import Text

@Suite struct TextTests {
    @Test(arguments: [
        "00000000-0000-0000-0000-000000000000", "3f2504e0-4F89-11d3-9A0C-0305e82c3301",
        "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
    ])
    func uuids(_ text: String) { #expect(DeviceUUID(text)?.text == text) }

    @Test(arguments: [
        "", "3f2504e04f8911d39a0c0305e82c3301", "3f2504e0-4f89-11d3-9a0c-0305e82c330",
        "3f2504e0-4f89-11d3-9a0c-0305e82c330g",
        "{3f2504e0-4f89-11d3-9a0c-0305e82c3301}", "3f2504e0-4f89-11d3-9a0c-0305e82c3301-",
        "３f2504e0-4f89-11d3-9a0c-0305e82c33",
        "3f2504e0-4f89-11d3-9a0c-0305e82c3301\u{301}", "3f2504e-04f89-11d3-9a0c-0305e82c3301",
    ])
    func noUUIDs(_ text: String) { #expect(DeviceUUID(text) == nil) }

    @Test func blankIsNothingOrWhiteSpace() {
        for text in [nil, "", " ", "\t\n", "\u{3000}"] { #expect(text.isBlank) }
        for text: String? in ["a", " a", "\u{0}"] { #expect(!text.isBlank) }
    }

    @Test(
        arguments: [
            "\u{AD}", "\u{34F}", "\u{61C}", "\u{115F}", "\u{1160}", "\u{17B4}", "\u{180B}", "\u{180E}", "\u{200B}",
            "\u{200C}", "\u{200D}", "\u{200E}", "\u{2060}", "\u{2064}", "\u{206A}", "\u{3164}", "\u{FE00}", "\u{FE0F}",
            "\u{FEFF}", "\u{FFA0}", "\u{FFF0}", "\u{1D173}", "\u{E0020}", "\u{E0100}", " \u{200B}\u{3000}\u{FE0F} ",
        ] as [String?])
    func blankIsWhatIsDrawnAsNothing(_ text: String?) {
        #expect(text.isBlank)
        #expect(!(text.map { "a" + $0 }).isBlank)
    }

    /// Invisible characters that belong to the letter or picture before or after them.
    @Test(arguments: ["❤\u{FE0F}", "👩\u{200D}👩", "\u{AD}x", "ᄀ\u{1160}", "\u{301}"] as [String?])
    func aCharacterThatIsSeenIsNoBlank(_ text: String?) { #expect(!text.isBlank) }
}
