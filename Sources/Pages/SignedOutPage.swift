/// A session has ended, or there was none.
package struct SignedOutPage: WebPage {
    package init() {}

    package func title(in texts: any Texts) -> String { texts.signedOut }

    package func content(in texts: any Texts) -> HTML {
        """
        <div class="outcome">\(Drawing.done)</div>
        <h1>\(texts.signedOut)</h1>
        <p class="lede">\(texts.signedOutNext)</p>
        """
    }
}
