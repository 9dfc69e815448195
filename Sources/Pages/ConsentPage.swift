/// Where a person allows an application to use their account, or does not (accounts §2.4, §2.11).
package struct ConsentPage: WebPage {
    /// What the application asks through.
    package enum Channel: Equatable, Sendable {
        /// The browser goes on to a redirect URI.
        case redirect(FormTarget)
        /// A device waits that shows this code.
        case device(userCode: String)
    }

    var application: String
    var channel: Channel
    var account: ShownUser
    /// Names of scopes, as asked for.
    var scopes: [String]
    /// Gets `decision`: `allow` or `deny`.
    var decision: PostForm
    /// Ends the session, to sign in as somebody else.
    var useAnotherAccount: PostForm

    package init(
        application: String, channel: Channel, account: ShownUser, scopes: [String], decision: PostForm,
        useAnotherAccount: PostForm
    ) {
        self.application = application
        self.channel = channel
        self.account = account
        self.scopes = scopes
        self.decision = decision
        self.useAnotherAccount = useAnotherAccount
    }

    package func title(in texts: any Texts) -> String {
        switch channel {
        case .redirect: texts.allowApplicationTitle(application)
        case .device: texts.connectDeviceTitle(application)
        }
    }

    package func content(in texts: any Texts) -> HTML {
        let name = texts.name(application)
        let heading =
            switch channel {
            case .redirect: texts.allowApplication(name)
            case .device: texts.connectDevice(to: name)
            }
        let items = distinct(scopes.map(texts.scope)).map { text -> HTML in
            "<li>\(Drawing.check)<span>\(text)</span></li>\n"
        }
        return """
            <h1>\(heading)</h1>
            \(code(texts))
            <div class="identity">
            \(account.html(in: texts))
            \(useAnotherAccount.html("<button class=\"link\">\(texts.useAnotherAccount)</button>"))
            </div>
            <h2>\(texts.willBeAble(name))</h2>
            <ul class="scopes">
            \(items)</ul>
            \(destination(texts))
            \(decision.html(choice(texts)))
            """
    }

    /// Two buttons of one kind: neither is the one to press.
    private func choice(_ texts: any Texts) -> HTML {
        """
        <div class="choice">
        <button class="button" name="decision" value="deny">\(texts.cancelButton)</button>
        <button class="button" name="decision" value="allow">\(texts.allowButton)</button>
        </div>
        """
    }

    private func code(_ texts: any Texts) -> HTML? {
        guard case .device(let userCode) = channel else { return nil }
        return """
            <p class="lede">\(texts.compareCode)</p>
            <p class="code">\(userCode)</p>
            <p class="caution">\(texts.onlyOwnDevice)</p>
            """
    }

    private func destination(_ texts: any Texts) -> HTML? {
        guard case .redirect(let target) = channel else { return nil }
        let name = texts.name(target.name)
        return "<p class=\"note\">\(target.isApp ? texts.leadsToApp(name) : texts.leadsToSite(name))</p>"
    }
}

/// Scopes of one meaning are said once.
func distinct(_ texts: [String]) -> [String] {
    texts.enumerated().filter { index, text in !texts[..<index].contains(text) }.map(\.element)
}
