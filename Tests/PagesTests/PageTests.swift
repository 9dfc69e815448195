import ErrorCodes
import Testing

@testable import Pages

/// The rules of accounts §2.4 for every page, in every state and language.
@Suite struct PageTests {
    @Test(arguments: Language.allCases, Gallery.plain + Gallery.hostile)
    func everyPageIsWellFormed(_ language: Language, _ piece: Gallery.Piece) throws {
        let outline = try Outline(piece.page.document(in: Edition(language)).markup)
        let html = try #require(outline.elements.first)
        #expect(html.name == "html")
        #expect(html.attributes == ["lang": language.rawValue, "dir": "ltr"])
        for name in ["title", "h1", "main", "header"] { #expect(outline.all(name).count == 1, "\(name)") }
        #expect(outline.all("h1").allSatisfy { $0.parents.contains("main") })
        for name in ["script", "style", "iframe", "object", "img", "base"] { #expect(outline.all(name).isEmpty) }
        for element in outline.elements {
            #expect(!element.attributes.keys.contains { $0 == "style" || $0.hasPrefix("on") }, "\(element)")
        }
        let ids = outline.elements.compactMap { $0.attributes["id"] }
        #expect(Set(ids).count == ids.count)
    }

    @Test(arguments: Language.allCases, Gallery.plain)
    func everyFieldHasALabel(_ language: Language, _ piece: Gallery.Piece) throws {
        let outline = try Outline(piece.page.document(in: Edition(language)).markup)
        let labeled = Set(outline.all("label").compactMap { $0.attributes["for"] })
        for input in outline.all("input") where input.attributes["type"] != "hidden" {
            #expect(labeled.contains(try #require(input.attributes["id"])))
        }
        for drawing in outline.all("svg") { #expect(drawing.attributes["aria-hidden"] == "true") }
    }

    @Test(arguments: Language.allCases, Gallery.plain)
    func headingsSkipNoLevel(_ language: Language, _ piece: Gallery.Piece) throws {
        var last = 0
        for heading in try Outline(piece.page.document(in: Edition(language)).markup).elements where heading.isHeading {
            #expect(heading.level <= last + 1)
            last = heading.level
        }
    }

    @Test(arguments: Language.allCases, Gallery.hostile)
    func nobodyGivesAPageTheirMarkup(_ language: Language, _ piece: Gallery.Piece) throws {
        let plain = try #require(Gallery.plain.first { $0.description == piece.description })
        let (expected, markup) = (
            plain.page.document(in: Edition(language)).markup, piece.page.document(in: Edition(language)).markup
        )
        #expect(try Outline(markup).elements.map(\.name) == Outline(expected).elements.map(\.name))
    }

    @Test(arguments: Gallery.plain)
    func koreanPagesSpeakKorean(_ piece: Gallery.Piece) throws {
        let outline = try Outline(piece.page.document(in: .korean).markup)
        let english = Set(lines(of: try Outline(piece.page.document(in: .english).markup)))
        let words: Set<Substring> = [
            "Merganser", "Acme Photos", "Jane Appleseed", "jane@example.com", "J", "BC2D-FG7H", "acme.example",
            "127.0.0.1:9000", "com.example.acme", "0123456789abcdef", "ok", "code_challenge_method", "Apple", "Google",
            "C0FFEE00", "192.0.2.7", "shell.exec", "shell.exec, git.push",
        ]
        let own = words.union(Gallery.consoleWords)
        let codes = Set(ErrorCode.allCases.map { $0.rawValue[...] })
        for line in lines(of: outline) where english.contains(line) {
            let isStatuses = line.allSatisfy { $0.isASCII && $0.isNumber || ", ".contains($0) }
            let isTime = line.wholeMatch(of: /\d{4}-\d\d-\d\d(?: \d\d:\d\d)?/) != nil
            #expect(own.contains(line) || codes.contains(line) || isStatuses || isTime, "\(line)")
        }
    }

    /// A screen reader says the title first, so it must name the problem.
    @Test(arguments: Language.allCases, Gallery.plain)
    func mistakesAreAnnounced(_ language: Language, _ piece: Gallery.Piece) throws {
        let markup = piece.page.document(in: Edition(language)).markup
        let alerts = try Outline(markup).elements.filter { $0.attributes["role"] == "alert" }
        let isMistaken = markup.contains("<title>\(language.texts.errorPrefix): ")
        #expect(alerts.count == (isMistaken ? 1 : 0))
    }

    /// Neither button is emphasized.
    @Test func allowAndCancelWeighTheSame() throws {
        for piece in Gallery.plain where piece.page is ConsentPage {
            let choice = try Outline(piece.page.document(in: .english).markup).all("button").filter {
                $0.attributes["name"] == "decision"
            }
            #expect(choice.map { $0.attributes["value"] } == ["deny", "allow"])
            #expect(choice[0].attributes["class"] == choice[1].attributes["class"])
        }
    }

    @Test(arguments: [
        ("Jane", "jane@example.com", "Jane"), (nil, "jane@example.com", "jane@example.com"),
        (" ", "jane@example.com", "jane@example.com"), ("", nil, "Your account"), (nil, nil, "Your account"),
    ])
    func everyAccountIsCalledSomething(_ name: String?, _ email: String?, _ title: String) {
        #expect(ShownUser(name: name, email: email).title(in: EnglishTexts()) == title)
    }

    private func lines(of outline: Outline) -> [Substring] {
        outline.texts.flatMap { $0.split(separator: "\n") }.filter { !$0.allSatisfy(\.isWhitespace) }
    }
}

extension Outline.Element {
    fileprivate var isHeading: Bool { ["h1", "h2", "h3", "h4"].contains(name) }
    fileprivate var level: Int { Int(name.dropFirst()) ?? 0 }
}
