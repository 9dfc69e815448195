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
    }

    /// nil where no application is known yet: before a device's code is typed.
    var application: String?
    var choices: [Choice]
    var notice: Notice?
    /// Who is signed in already, and the form that goes on as them.
    var signedIn: (account: ShownUser, form: PostForm)?

    package init(
        application: String?, choices: [Choice], notice: Notice? = nil,
        signedIn: (account: ShownUser, form: PostForm)? = nil
    ) {
        self.application = application
        self.choices = choices
        self.notice = notice
        self.signedIn = signedIn
    }

    package func title(in texts: any Texts) -> String {
        let heading = signedIn == nil ? texts.signIn : texts.chooseAccount
        return notice == nil ? heading : "\(texts.errorPrefix): \(heading)"
    }

    package func content(in texts: any Texts) -> HTML {
        let purpose = application.map { texts.toContinue(to: texts.name($0)) } ?? texts.toConnectDevice
        return """
            <h1>\(signedIn == nil ? texts.signIn : texts.chooseAccount)</h1>
            <p class="lede">\(purpose)</p>
            \(notice.map { alert(texts.notice($0)) })
            \(signedIn.map { account, form in resume(account, form, texts) })
            \(ways(texts))
            """
    }

    private func resume(_ account: ShownUser, _ form: PostForm, _ texts: any Texts) -> HTML {
        """
        \(account.html(in: texts))
        \(form.html("<button class=\"button primary\">\(texts.continueButton)</button>"))
        <p class="or"><span>\(texts.orUseAnotherAccount)</span></p>
        """
    }

    private func ways(_ texts: any Texts) -> HTML {
        if choices.isEmpty { return "<p>\(texts.noProvider)</p>" }
        let items = choices.map { choice -> HTML in
            """
            <li><a class="button \(choice.provider.rawValue)" href="\(choice.href)">\(Drawing.logo(of: choice.provider))\
            <span>\(texts.continueWith(choice.provider))</span></a></li>

            """
        }
        return "<ul class=\"ways\">\n\(items)</ul>"
    }
}
