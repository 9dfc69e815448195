/// Where somebody who is signed in already sets out to a provider, with another identity (accounts §4.8).
package struct AccountTripPage: WebPage {
    package enum Purpose: Sendable, CaseIterable {
        /// One more way to sign in.
        case link
        /// Into the account goes the one that they sign in to.
        case merge
    }

    var purpose: Purpose
    var account: ShownUser
    var choices: [LoginPage.Choice]

    package init(_ purpose: Purpose, from account: ShownUser, choices: [LoginPage.Choice]) {
        self.purpose = purpose
        self.account = account
        self.choices = choices
    }

    package func title(in texts: any Texts) -> String {
        switch purpose {
        case .link: texts.account.addMethod
        case .merge: texts.account.merge
        }
    }

    package func content(in texts: any Texts) -> HTML {
        """
        <h1>\(title(in: texts))</h1>
        <p class="lede">\(purpose == .link ? texts.account.addMethodIntroduction : texts.account.mergeIntroduction)</p>
        \(account.html(in: texts))
        \(LoginPage.ways(choices, texts))
        <p class="note"><a href="/account">\(texts.account.back)</a></p>
        """
    }
}
