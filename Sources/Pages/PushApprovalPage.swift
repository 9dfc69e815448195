/// What a browser shows while its person approves the sign-in in the app (accounts §2.4, §4.2). It loads itself again by a
/// header field.
package struct PushApprovalPage: WebPage {
    package enum Step: Sendable {
        /// The address that the app opens when its camera sees it.
        case scan(String)
        /// Two digits, which the person types in the app.
        case number(String)
    }

    /// Seconds until it loads itself again.
    package static let interval = 3

    var step: Step
    /// Its own.
    var path: String
    /// Where other ways to sign in are.
    var loginPath: String

    package init(_ step: Step, path: String, loginPath: String) {
        self.step = step
        self.path = path
        self.loginPath = loginPath
    }

    package func title(in texts: any Texts) -> String {
        switch step {
        case .scan: texts.scanCode
        case .number: texts.approveOnPhone
        }
    }

    package func content(in texts: any Texts) -> HTML {
        """
        <h1>\(title(in: texts))</h1>
        \(instruction(texts))
        <p class="note">\(texts.approvalPatience)</p>
        <ul class="ways">
        <li><a class="button primary" href="\(path)">\(texts.checkAgain)</a></li>
        <li><a class="button" href="\(loginPath)">\(texts.signInAnotherWay)</a></li>
        </ul>
        """
    }

    private func instruction(_ texts: any Texts) -> HTML {
        switch step {
        case .scan(let address): "<p class=\"lede\">\(texts.scanTheCode)</p>\n\(drawing(of: address))"
        case .number(let number): "<p class=\"lede\">\(texts.typeTheNumber)</p>\n<p class=\"code\">\(number)</p>"
        }
    }

    /// Dark on light in both colour schemes, since scanners want it so. Screen readers are told of it by the text before.
    private func drawing(of address: String) -> HTML? {
        QRCode(Array(address.utf8)).map { code in
            let side = String(code.size + 8)
            return """
                <svg class="qr" viewBox="0 0 \(side) \(side)" aria-hidden="true" shape-rendering="crispEdges">\
                <rect width="\(side)" height="\(side)" fill="#ffffff"/>\
                <path d="\(code.path)" fill="#000000"/></svg>
                """
        }
    }
}
