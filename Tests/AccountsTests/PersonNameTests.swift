import Accounts
import Testing

/// How names are put together (accounts §1.6).
@Suite struct PersonNameTests {
    @Test(arguments: [
        ("Ada", "Lovelace", "Ada Lovelace"), ("길동", "홍", "홍길동"), ("太郎", "山田", "山田太郎"), ("はなこ", "やまだ", "やまだはなこ"),
        ("ハナコ", "ヤマダ", "ヤマダハナコ"), ("ﾊﾅｺ", "ﾔﾏﾀﾞ", "ﾔﾏﾀﾞﾊﾅｺ"), ("太郎", "佐々木", "佐々木太郎"), ("ローラ", "山田", "山田ローラ"),
        ("길동", "山田", "山田길동"), ("𠮷子", "𠮷田", "𠮷田𠮷子"), ("\u{1100}\u{1161}", "\u{1112}\u{1169}\u{11BC}", "홍가"),
        // One of them alone is not enough.
        ("Taro", "山田", "Taro 山田"), ("太郎", "Yamada", "太郎 Yamada"), ("太郎2", "山田", "太郎2 山田"), ("명 진", "남궁", "명 진 남궁"),
        ("อนันต์", "ปัญญารชุน", "อนันต์ ปัญญารชุน"), ("👩", "山田", "👩 山田"),
        // White space around is no part of a name.
        (" Ada ", "\tLovelace\n", "Ada Lovelace"), ("\u{3000}太郎", " 山田\u{A0}", "山田太郎"),
        ("Mary Ann", "Lee", "Mary Ann Lee"),
        // Nor is what would change the text around it.
        ("A\u{0}da\u{85}", "\u{202E}Lovelace\u{202C}", "Ada Lovelace"), ("Mary\tAnn", "Lee\u{2069}", "Mary Ann Lee"),
        ("길\u{1B}동", "\u{2067}홍", "홍길동"),
    ])
    func bothParts(_ given: String, _ family: String, _ display: String) {
        let name = PersonName(givenName: given, familyName: family).display ?? ""
        #expect(name == display)
    }

    @Test(arguments: [
        ("Ada", nil, "Ada"), (nil, "홍", "홍"), ("", "Lovelace", "Lovelace"), ("Ada", "  ", "Ada"), (nil, nil, nil),
        ("", "", nil), (" ", "\u{3000}", nil), ("\u{0}", "\u{202E}", nil),
    ])
    func oneOrNone(_ given: String?, _ family: String?, _ display: String?) {
        #expect(PersonName(givenName: given, familyName: family).display == display)
    }

    @Test func anAccountHasRoomForTwoHundredCharacters() {
        let half = String(repeating: "홍", count: 100)
        #expect(PersonName(givenName: half, familyName: half).fits)
        #expect(!PersonName(givenName: half + "홍", familyName: half).fits)
        // Characters as the column counts them.
        let emoji = String(repeating: "👩‍👩‍👧‍👦", count: 29)
        #expect(!PersonName(givenName: emoji, familyName: nil).fits)
        #expect(PersonName(givenName: nil, familyName: nil).fits)
    }
}
