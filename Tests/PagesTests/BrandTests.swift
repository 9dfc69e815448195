import Testing

@testable import Pages

/// The operator's name, logo and color on every page (accounts Annex A).
@Suite struct BrandTests {
    private static let drawing =
        #"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path d="M0 0h8v8z"/></svg>"#

    @Test(arguments: Language.allCases, Gallery.plain)
    func everyPageShowsIt(_ language: Language, _ piece: Gallery.Piece) throws {
        let logo = try BrandLogo(Array(Self.drawing.utf8))
        let brand = Brand(
            name: "Pond & Co", logo: logo, support: "https://pond.example/help?a=1&b=2",
            privacy: "https://pond.example/privacy")
        let markup = piece.page.document(in: Edition(language, of: brand)).markup
        let outline = try Outline(markup)
        #expect(!markup.contains("Merganser") && markup.contains("· Pond &amp; Co</title>"))
        #expect(markup.contains("<span>Pond &amp; Co</span>"))
        #expect(outline.all("img").map { $0.attributes["src"] } == [logo.asset.link])
        #expect(outline.all("link").map { $0.attributes["href"] } == [brand.styleSheet.link, logo.asset.link])
        let links = outline.all("a").filter { $0.parents.contains("footer") }.map { $0.attributes["href"] }
        #expect(links == ["https://pond.example/help?a=1&amp;b=2", "https://pond.example/privacy"])
    }

    @Test func withoutSettingsThereIsNoFooter() throws {
        #expect(!SignedOutPage().document(in: .english).markup.contains("<footer"))
        #expect(Brand.merganser.signature(in: EnglishTexts()) == "-- \nMerganser\n")
        let brand = Brand(name: "Pond", support: "https://pond.example/help")
        #expect(brand.signature(in: KoreanTexts()) == "-- \nPond\n도움말: https://pond.example/help\n")
    }

    // MARK: Colors

    @Test func theSheetHasTheColor() throws {
        let accent = try AccentColors(light: try #require(Color("#7a1fa2")), dark: nil)
        let sheet = String(decoding: Brand(accent: accent).styleSheet.contents, as: UTF8.self)
        #expect(sheet.contains("--accent: #7a1fa2;"))
        #expect(!sheet.contains("#0a6b63"))
        #expect(Brand(accent: accent).styleSheet.link != Brand.merganser.styleSheet.link)
        // The grounds that colors are checked against are the sheet's own.
        for ground in StyleSheet.lightGrounds + StyleSheet.darkGrounds { #expect(sheet.contains(": \(ground.color);")) }
    }

    @Test(
        arguments: [
            ("#ffff00", nil, "the accent #ffff00 on the sheet #ffffff of light pages has a contrast of 1.0:1"),
            ("#7a7a7a", nil, "the accent #7a7a7a on the sheet #ffffff of light pages has a contrast of 4.2:1"),
            ("#767676", nil, "the accent #767676 on the paper #f4f5f5 of light pages has a contrast of 4.1:1"),
            ("#0a6b63", "#0a6b63", "the accent #0a6b63 on the sheet #191c1d of dark pages has a contrast of 2.6:1"),
        ] as [(String, String?, String)])
    func aPairThatCannotBeReadIsNamed(_ light: String, _ dark: String?, _ reason: String) throws {
        let (light, dark) = (try #require(Color(light)), dark.flatMap { Color($0) })
        let error = #expect(throws: AccentColors.LowContrast.self) { try AccentColors(light: light, dark: dark) }
        #expect(error?.description == reason)
    }

    /// Each color that is dark enough for light pages gets one for dark pages.
    @Test func oneColorIsEnough() throws {
        var taken = 0
        for step in 0..<4096 {
            let color = Color(
                UInt32(step >> 8 * 17) << 16 | UInt32((step >> 4 & 15) * 17) << 8 | UInt32((step & 15) * 17))
            let readable = StyleSheet.lightGrounds.allSatisfy { color.contrast(to: $0.color) >= 4.5 }
            let accent = try? AccentColors(light: color, dark: nil)
            #expect((accent != nil) == readable, "\(color)")
            if accent != nil { taken += 1 }
        }
        #expect(taken > 100)
        #expect(Color("#123456")?.description == "#123456")
        for text in ["", "#12345", "123456", "#1234567", "#12345g", "#+12345", "red"] { #expect(Color(text) == nil) }
    }

    // MARK: Logos

    @Test(arguments: [
        "<circle r=\"2\"/>", "<g id=\"a\"/><use href=\"#a\"/>", "<style>.a { fill: url(#b) }</style>",
        "<!-- <script> --><title>A &amp; B</title>", "<path d=\"M0 0\" style=\"fill: red\"/>",
        "<rect fill=\"url( '#a' )\"/>",
    ])
    func aDrawingIsTaken(_ content: String) throws {
        let text = "\u{FEFF}<?xml version=\"1.0\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\">\(content)</svg>"
        #expect(try BrandLogo(Array(text.utf8)).asset.mediaType == "image/svg+xml")
    }

    @Test(arguments: [
        "<script>alert(1)</script>", "<SCRIPT/>", "<path onload=\"x\"/>", "<path d=\">\" OnClick='x'/>",
        "<image href=\"#a\"/>", "<use href=\"https://evil.example/a.svg#b\"/>", "<use xlink:href='//evil.example/a'/>",
        "<a href=\"javascript:alert(1)\"/>", "<foreignObject/>", "<animate/>", "<style>@import 'x'</style>",
        "<style>.a { fill: url(https://evil.example) }</style>", "<style>.a { fill: u\\72l(x) }</style>",
        "<rect fill=\"URL(//evil.example/a#b)\"/>", "<rect fill=\"&#117;rl(//evil.example)\"/>",
        "<![CDATA[<script/>]]>",
        "<?xml-stylesheet href=\"a\"?>", "<!DOCTYPE svg>", "<iframe/>", "<set/>",
        "<rect fill=\"data:x\" href=\"data:x\"/>",
    ])
    func whatCouldLoadOrRunSomethingIsRefused(_ content: String) {
        let text = "<svg xmlns=\"http://www.w3.org/2000/svg\">\(content)</svg>"
        #expect(throws: BrandLogo.Refused.self) { try BrandLogo(Array(text.utf8)) }
    }

    @Test func otherFilesAreRefused() throws {
        let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
        #expect(try BrandLogo(png + [UInt8](repeating: 1, count: 17)).asset.mediaType == "image/png")
        for bytes in [
            [], png, Array("<html><svg/></html>".utf8), Array("<svg".utf8), Array("<svg a=\">".utf8),
            [0xFF, 0xD8, 0xFF],
            Array("<!DOCTYPE html><svg/>".utf8), Array(Self.drawing.utf8) + [UInt8](repeating: 0x20, count: 65_536),
        ] { #expect(throws: BrandLogo.Refused.self) { try BrandLogo(bytes) } }
    }
}
