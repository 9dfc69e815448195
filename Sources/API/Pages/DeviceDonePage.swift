/// What became of a device: the person goes on there.
struct DeviceDonePage: WebPage {
    var isAllowed: Bool

    func title(in texts: any Texts) -> String { isAllowed ? texts.deviceConnected : texts.deviceNotConnected }

    func content(in texts: any Texts) -> HTML {
        """
        <div class="outcome">\(isAllowed ? Drawing.done : Drawing.stopped)</div>
        <h1>\(title(in: texts))</h1>
        <p class="lede">\(isAllowed ? texts.deviceConnectedNext : texts.deviceNotConnectedNext)</p>
        """
    }
}
