/// What became of a device: the person goes on there.
package struct DeviceDonePage: WebPage {
    var isAllowed: Bool

    package init(isAllowed: Bool) { self.isAllowed = isAllowed }

    package func title(in texts: any Texts) -> String { isAllowed ? texts.deviceConnected : texts.deviceNotConnected }

    package func content(in texts: any Texts) -> HTML {
        """
        <div class="outcome">\(isAllowed ? Drawing.done : Drawing.stopped)</div>
        <h1>\(title(in: texts))</h1>
        <p class="lede">\(isAllowed ? texts.deviceConnectedNext : texts.deviceNotConnectedNext)</p>
        """
    }
}
