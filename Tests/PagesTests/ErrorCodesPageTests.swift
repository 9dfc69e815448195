import ErrorCodes
import Testing

@testable import Pages

/// For every error, `error_uri` leads to a page that explains it (accounts §0.2, Annex B).
@Suite struct ErrorCodesPageTests {
    @Test(arguments: Language.allCases)
    func everyCodeIsExplainedUnderItsName(_ language: Language) throws {
        let markup = ErrorCodesPage().document(in: Edition(language)).markup
        let anchors = try Outline(markup).all("div").compactMap { $0.attributes["id"] }
        #expect(anchors.count == Set(anchors).count)
        #expect(Set(anchors) == Set(ErrorCode.allCases.map(\.rawValue)))
        for code in ErrorCode.allCases {
            let meaning: HTML = "<dd>\(language.texts.meaning(code))</dd>"
            #expect(markup.contains(meaning.markup), "\(code)")
        }
    }

    /// Devices and agents get it for different intervals.
    @Test(arguments: Language.allCases)
    func slowDownNamesNoIntervalOfOneOfTheTwo(_ language: Language) {
        #expect(language.texts.meaning(.slowDown).contains("Retry-After"))
    }
}
