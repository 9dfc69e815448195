import Testing
import Time

@testable import Pages

/// What the pages of administration draw, and say in words (accounts §4.7).
@Suite struct ConsolePageTests {
    private func graph(_ count: Int) -> String {
        IdentityGraph(
            center: "Jane", nodes: (0..<count).map { IdentityGraph.Node(.device, "device \($0)", detail: "ios") }
        ).html(in: .english).markup
    }

    /// Up to 50 nodes with the account itself. Whoever does not see the drawing has the list.
    @Test func aLargeGraphIsOnlyAList() throws {
        for (count, isDrawn) in [(0, true), (49, true), (50, false), (500, false)] {
            let outline = try Outline(graph(count))
            #expect(outline.all("svg").count == (isDrawn ? 1 : 0), "\(count)")
            #expect(outline.all("rect").count == (isDrawn ? count + 1 : 0))
            #expect(outline.all("li").count == count)
        }
    }

    @Test func noBoxOverlapsAnother() throws {
        let kinds: [IdentityGraph.Kind] = [.absorbed, .absorbedSub, .identity, .device, .application, .survivor]
        let nodes = (0..<40).map { IdentityGraph.Node(kinds[$0 % kinds.count], "n\($0)", detail: "d") }
        let outline = try Outline(IdentityGraph(center: "c", nodes: nodes).html(in: .english).markup)
        let box = try #require(outline.all("svg").first?.attributes["viewBox"]).split(separator: " ").compactMap {
            Int($0)
        }
        let boxes = outline.all("rect").map { rect in
            ["x", "y", "width", "height"].map { Int(rect.attributes[$0] ?? "") ?? -1 }
        }
        for (index, one) in boxes.enumerated() {
            #expect(one[0] >= 0 && one[1] >= 0 && one[0] + one[2] <= box[2] && one[1] + one[3] <= box[3])
            for other in boxes.dropFirst(index + 1) {
                let isApart =
                    one[0] + one[2] <= other[0] || other[0] + other[2] <= one[0] || one[1] + one[3] <= other[1]
                    || other[1] + other[3] <= one[1]
                #expect(isApart, "\(one) \(other)")
            }
        }
    }

    /// Who absorbed the account, by what and when; a revoked grant is used no more.
    @Test func theGraphOfAnAccountIsItsPresent() throws {
        func text(of description: String) throws -> String {
            let page = try #require(Gallery.plain.first { $0.description == description }?.page)
            return page.document(in: .english).markup.replacing(/<\/?bdi>/, with: "")
        }
        #expect(
            try text(of: "console, merged person").contains("<li>Merged into: User 17, session_token, 2026-05-12</li>"))
        let shown = try text(of: "console, person")
        #expect(shown.contains("<li>Signs in with: Apple ") && shown.contains("<li>Signs in with: Google "))
        #expect(shown.split(separator: "<li>Uses the application: ").count == 2)
    }

    @Test func aChartShowsEveryDay() throws {
        for values in [Array(repeating: 0, count: 30), Array(0..<30), [0, 1_000_000]] {
            let bars = try Outline(ConsoleChart(values: values).html.markup).all("rect").map {
                Int($0.attributes["height"] ?? "") ?? 0
            }
            #expect(bars.count == values.count)
            for (value, bar) in zip(values, bars) { #expect(value == 0 ? bar == 1 : (3...48).contains(bar)) }
        }
    }

    @Test func everySectionIsNamedAndTheCurrentOneMarked() throws {
        for texts in [ConsoleTexts.english, .korean] {
            #expect(Set(texts.sections.keys) == Set(ConsoleSection.allCases))
            #expect(Set(texts.counts.keys) == Set(ConsoleCount.allCases))
            #expect(Set(texts.roles.keys) == Set(ConsoleUser.Role.allCases))
            #expect(Set(texts.states.keys) == Set(ConsoleEvent.State.allCases))
            #expect(Set(texts.keyStates.keys) == Set(ConsoleKey.State.allCases))
            #expect(Set(texts.statuses.keys) == Set(ConsoleApplication.Status.allCases))
        }
        for piece in Gallery.plain {
            guard let page = piece.page as? any ConsolePage else { continue }
            let links = try Outline(page.document(in: .english).markup).all("a").filter {
                $0.parents.contains("header")
            }
            #expect(
                links.filter { $0.attributes["aria-current"] == "page" }.map { $0.attributes["href"] } == [
                    page.section.path
                ])
        }
    }
}
