/// Asks before a session ends.
package struct SignOutPage: WebPage {
    var account: ShownUser
    var form: PostForm

    package init(account: ShownUser, form: PostForm) {
        self.account = account
        self.form = form
    }

    package func title(in texts: any Texts) -> String { texts.signOutQuestion }

    package func content(in texts: any Texts) -> HTML {
        """
        <h1>\(texts.signOutQuestion)</h1>
        <p class="lede">\(texts.signOutEffect)</p>
        \(account.html(in: texts))
        \(form.html("<button class=\"button primary\">\(texts.signOut)</button>"))
        """
    }
}
