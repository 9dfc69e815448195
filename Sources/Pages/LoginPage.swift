package import IdentityTokens
package import Time

/// Where a person says who they are (accounts §2.4).
package struct LoginPage: WebPage {
    /// A way to sign in: a link to `/auth/{provider}/web/start`.
    package struct Choice: Equatable, Sendable {
        var provider: Provider
        var href: String

        package init(provider: Provider, href: String) {
            self.provider = provider
            self.href = href
        }
    }

    /// What went wrong a moment ago.
    package enum Notice: Equatable, Sendable {
        /// The person turned back at the provider.
        case cancelled
        /// The provider's answer was not to be believed.
        case failed
        /// The provider's keys or the database are not to be had.
        case unavailable
        /// The address belongs to an account with another identity of this provider (accounts §1.6).
        case linkedToOtherAccount(Provider)
        case accountDeleted(purgeAt: Timestamp)
        /// Nobody approved the sign-in on a phone in time.
        case notApproved
    }

    /// What somebody signs in for.
    package enum Destination: Equatable, Sendable {
        case application(String)
        /// No application is known yet: its code is typed later.
        case device
        /// A page of this server.
        case ownPage
    }

    var destination: Destination
    var choices: [Choice]
    /// Gets `email`: of whoever approves the sign-in on a phone. Nil where nobody can.
    var approval: PostForm?
    /// Shows a code to scan with the app. Nil where that is switched off.
    var code: PostForm?
    var notice: Notice?
    /// Who is signed in already, and the form that goes on as them.
    var signedIn: (account: ShownUser, form: PostForm)?

    package init(
        for destination: Destination, choices: [Choice], approval: PostForm? = nil, code: PostForm? = nil,
        notice: Notice? = nil,
        signedIn: (account: ShownUser, form: PostForm)? = nil
    ) {
        self.destination = destination
        self.choices = choices
        self.approval = approval
        self.code = code
        self.notice = notice
        self.signedIn = signedIn
    }

    package func title(in texts: any Texts) -> String {
        let heading = signedIn == nil ? texts.signIn : texts.chooseAccount
        return notice == nil ? heading : "\(texts.errorPrefix): \(heading)"
    }

    package func content(in texts: any Texts) -> HTML {
        let purpose =
            switch destination {
            case .application(let name): texts.toContinue(to: texts.name(name))
            case .device: texts.toConnectDevice
            case .ownPage: texts.toOpenPage
            }
        return """
            <h1>\(signedIn == nil ? texts.signIn : texts.chooseAccount)</h1>
            <p class="lede">\(purpose)</p>
            \(notice.map { alert(texts.notice($0)) })
            \(signedIn.map { account, form in resume(account, form, texts) })
            \(choices.isEmpty && isWithPhone ? .empty : Self.ways(choices, texts))
            \(isWithPhone ? divider(texts) : nil)
            \(approval.map { phone($0, texts) })
            \(code.map { $0.html("<button class=\"button\">\(texts.scanCode)</button>") })
            """
    }

    private func resume(_ account: ShownUser, _ form: PostForm, _ texts: any Texts) -> HTML {
        """
        \(account.html(in: texts))
        \(form.html("<button class=\"button primary\">\(texts.continueButton)</button>"))
        <p class="or"><span>\(texts.orUseAnotherAccount)</span></p>
        """
    }

    static func ways(_ choices: [Choice], _ texts: any Texts) -> HTML {
        if choices.isEmpty { return "<p>\(texts.noProvider)</p>" }
        let items = choices.map { choice -> HTML in
            """
            <li><a class="button \(choice.provider.rawValue)" href="\(choice.href)">\(Drawing.logo(of: choice.provider))\
            <span>\(texts.continueWith(choice.provider))</span></a></li>

            """
        }
        return "<ul class=\"ways\">\n\(items)</ul>"
    }

    private var isWithPhone: Bool { approval != nil || code != nil }

    private func divider(_ texts: any Texts) -> HTML? {
        choices.isEmpty ? nil : "<p class=\"or\"><span>\(texts.orOnPhone)</span></p>"
    }

    private func phone(_ form: PostForm, _ texts: any Texts) -> HTML {
        let controls: HTML = """
            <label for="email">\(texts.emailLabel)</label>
            <input id="email" name="email" type="email" required maxlength="254" autocomplete="username" \
            autocapitalize="none" spellcheck="false" enterkeyhint="go" dir="ltr">
            <button class="button">\(texts.approveOnPhone)</button>
            """
        return form.html(controls)
    }
}
