import Testing

@testable import Pages

/// RFC 9110 §12.5.4.
@Suite struct LanguageTests {
    @Test(arguments: [
        (nil, Language.english),
        ("", .english),
        ("ko", .korean),
        ("KO-kr", .korean),
        ("ko-Hang-KR", .korean),
        ("en-US,en;q=0.9,ko;q=0.8", .english),
        ("ko-KR,ko;q=0.9,en-US;q=0.8,en;q=0.7", .korean),
        ("en;q=0.5, ko;q=0.6", .korean),
        ("en;q=0.5 ,ko ; q=0.500", .english),
        ("ko;q=0.500, en;q=0.5", .korean),
        ("fr, de;q=0.9, ko;q=0.1", .korean),
        ("fr, de", .english),
        ("ko;q=0", .english),
        ("ko;q=0, *", .english),
        ("en;q=0, *;q=0.1", .korean),
        ("*", .english),
        ("en;q=0.2, *;q=0.9", .korean),
        ("kok", .english),
        ("ko;q=2, en;q=0.1", .english),
        ("ko;q=nan, en;q=0.1", .english),
        ("ko;quality=1, en;q=0.1", .english),
        (";;,,;q=1,-", .english),
        ("ko_KR", .english),
    ])
    func theBestLikedIsTaken(_ field: String?, _ language: Language) {
        #expect(Language(accepting: field) == language)
    }
}
