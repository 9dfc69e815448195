import Testing

@testable import Pages

@Suite struct HTMLTests {
    @Test func whatIsInterpolatedIsText() {
        let text = "<b title=\"a\" id='b'>&amp;"
        #expect(("<p>\(text)</p>" as HTML).markup == "<p>&lt;b title=&quot;a&quot; id=&#39;b&#39;&gt;&amp;amp;</p>")
    }

    @Test func anAttributeCannotBeLeft() {
        let value = "x\" onclick=\"y"
        #expect(("<a href=\"\(value)\">" as HTML).markup == "<a href=\"x&quot; onclick=&quot;y\">")
    }

    /// A quote with a combining mark is one character, and still a quote to a browser.
    @Test func textIsReadScalarByScalar() {
        #expect(("\("<\u{338}\"\u{301}")" as HTML).markup == "&lt;\u{338}&quot;\u{301}")
    }

    @Test func otherLanguagesStayAsTheyAre() {
        #expect(("\("안녕 ‏שלום 👩‍👩‍👧")" as HTML).markup == "안녕 ‏שלום 👩‍👩‍👧")
    }

    @Test func piecesStayMarkup() {
        let piece: HTML = "<b>\("&")</b>"
        #expect(
            ("<p>\(piece)\([piece, piece])\(HTML?.none)</p>" as HTML).markup == """
                <p><b>&amp;</b><b>&amp;</b><b>&amp;</b></p>
                """)
    }
}
