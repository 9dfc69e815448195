/// Asks before a session ends.
struct SignOutPage: WebPage {
    var account: Account
    var form: PostForm

    func title(in texts: any Texts) -> String { texts.signOutQuestion }

    func content(in texts: any Texts) -> HTML {
        """
        <h1>\(texts.signOutQuestion)</h1>
        <p class="lede">\(texts.signOutEffect)</p>
        \(account.html(in: texts))
        \(form.html("<button class=\"button primary\">\(texts.signOut)</button>"))
        """
    }
}
