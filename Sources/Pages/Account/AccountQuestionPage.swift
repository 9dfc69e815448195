import IdentityTokens

/// Asks before something of an account is changed: the form goes to the page's own path (accounts §4.8).
package struct AccountQuestionPage: WebPage {
    package enum Question: Equatable, Sendable {
        case addMethod(ShownIdentity)
        case removeMethod(SignInMethod)
        case removeDevice(ShownDevice)
        case disconnect(ShownApp)
        case revoke(AccountAgent)
        /// - Parameter isRefused: whether it was asked for too often.
        case export(isRefused: Bool)
    }

    var question: Question
    var account: ShownUser
    var form: PostForm

    package init(_ question: Question, about account: ShownUser, form: PostForm) {
        self.question = question
        self.account = account
        self.form = form
    }

    package func title(in texts: any Texts) -> String {
        switch question {
        case .addMethod(let identity):
            texts.account.addMethodQuestion(providerName(identity.provider.rawValue))
        case .removeMethod(let method): texts.account.removeMethodQuestion(providerName(method.provider))
        case .removeDevice(let device): texts.account.removeDeviceQuestion(texts.account.name(of: device))
        case .disconnect(let app): texts.account.disconnectTitle(app.name)
        case .revoke(let agent): texts.account.revokeTitle(agent.name)
        case .export(isRefused: true): "\(texts.errorPrefix): \(texts.account.exportQuestion)"
        case .export: texts.account.exportQuestion
        }
    }

    package func content(in texts: any Texts) -> HTML {
        """
        <h1>\(heading(texts))</h1>
        <p class="lede">\(effect(texts))</p>
        \(question == .export(isRefused: true) ? alert(texts.account.exportLimit) : nil)
        \(subject(texts).map { [$0.belowPageHeading].html })
        <p class="note">\(texts.account.inAccount(texts.name(account.title(in: texts))))</p>
        \(form.html(choice(texts)))
        """
    }

    private func heading(_ texts: any Texts) -> HTML {
        switch question {
        case .disconnect(let app): texts.account.disconnectQuestion(texts.name(app.name))
        case .revoke(let agent): texts.account.revokeQuestion(texts.name(agent.name))
        case .export: "\(texts.account.exportQuestion)"
        default: "\(title(in: texts))"
        }
    }

    private func effect(_ texts: any Texts) -> String {
        switch question {
        case .addMethod: texts.account.addMethodEffect
        case .removeMethod: texts.account.removeMethodEffect
        case .removeDevice: texts.account.removeDeviceEffect
        case .disconnect: texts.account.disconnectEffect
        case .revoke: texts.account.revokeEffect
        case .export: texts.account.exportEffect
        }
    }

    /// What the question is about, as the list showed it; nil if it is about the account.
    private func subject(_ texts: any Texts) -> AccountRow? {
        switch question {
        case .addMethod(let identity):
            AccountRow(
                title: "\(providerName(identity.provider.rawValue))",
                facts: identity.address.map { ["<bdi class=\"address\">\($0)</bdi>"] } ?? [])
        case .removeMethod(let method):
            AccountRow(
                title: "\(providerName(method.provider))",
                facts: [
                    texts.account.addresses(method.addresses), texts.account.added(texts.account.date(method.since)),
                ].compactMap { $0 })
        case .removeDevice(let device):
            AccountRow(
                title: "\(texts.account.name(of: device)) <small>\(device.shortID)</small>",
                facts: texts.account.facts(of: device, texts))
        case .disconnect(let app):
            AccountRow(title: texts.name(app.name), facts: distinct(app.scopes.map(texts.scope)).map { "\($0)" })
        case .revoke(let agent): AccountRow(title: texts.name(agent.name), facts: agent.facts(in: texts))
        case .export: nil
        }
    }

    private func choice(_ texts: any Texts) -> HTML {
        let (verb, kind): (String, String) =
            switch question {
            case .addMethod: (texts.account.add, "primary")
            case .removeMethod, .removeDevice: (texts.account.remove, "danger")
            case .disconnect: (texts.account.disconnect, "danger")
            case .revoke: (texts.account.revoke, "danger")
            case .export: (texts.account.exportButton, "primary")
            }
        return """
            <div class="choice">
            <a class="button" href="/account">\(texts.cancelButton)</a>
            <button class="button \(kind)">\(verb)</button>
            </div>
            """
    }
}
