package import Time

/// Asks before an account is deleted. Whoever means it types a word (accounts §4.8).
package struct DeleteAccountPage: WebPage {
    var account: ShownUser
    /// When everything is erased, if it is deleted now.
    var purgeAt: Timestamp
    /// Whether a sign-in gives the account back until then.
    var isRestorable: Bool
    /// Gets `word`.
    var form: PostForm
    /// Whether another word was typed a moment ago.
    var isWrongWord: Bool

    package init(
        _ account: ShownUser, purgeAt: Timestamp, isRestorable: Bool, form: PostForm, isWrongWord: Bool = false
    ) {
        self.account = account
        self.purgeAt = purgeAt
        self.isRestorable = isRestorable
        self.form = form
        self.isWrongWord = isWrongWord
    }

    package func title(in texts: any Texts) -> String {
        isWrongWord ? "\(texts.errorPrefix): \(texts.account.deleteQuestion)" : texts.account.deleteQuestion
    }

    package func content(in texts: any Texts) -> HTML {
        let word = texts.account.deletionWord
        let fault: HTML = isWrongWord ? " aria-invalid=\"true\" aria-describedby=\"alert\"" : .empty
        let controls: HTML = """
            <label for="word">\(texts.account.typeTheWord(word))</label>
            <input id="word" name="word" type="text" required maxlength="40" autocomplete="off" autocapitalize="none" \
            autocorrect="off" spellcheck="false"\(fault)>
            <div class="choice">
            <a class="button" href="/account">\(texts.cancelButton)</a>
            <button class="button danger">\(texts.account.deleteButton)</button>
            </div>
            """
        let effects =
            texts.account.deleteEffects.map { "\($0)" } + [texts.account.erased(texts.account.date(purgeAt))]
        return """
            <h1>\(texts.account.deleteQuestion)</h1>
            \(isWrongWord ? alert(texts.account.wrongWord(word)) : nil)
            <div class="owner">
            \(account.html(in: texts))
            </div>
            <ul class="effects">
            \(effects.map { effect -> HTML in "<li>\(effect)</li>\n" })</ul>
            <p class="caution">\(isRestorable ? texts.account.restorable : texts.account.notRestorable)</p>
            \(form.html(controls))
            """
    }

    /// Whether somebody typed the word, in any language: the page may have been read in another one than the browser asks
    /// for now. Keyboards add a space and a capital; some send Hangul as single letters.
    package static func isWord(_ typed: String) -> Bool {
        let typed = typed.drop(while: \.isWhitespace).lowercased()
        return Language.allCases.contains { language in
            let word = language.texts.account.deletionWord
            return typed.hasPrefix(word) && typed.dropFirst(word.count).allSatisfy(\.isWhitespace)
        }
    }
}

/// The account is gone, and so is the session.
package struct AccountDeletedPage: WebPage {
    var purgeAt: Timestamp
    /// Whether a sign-in gives the account back until then.
    var isRestorable: Bool

    package init(purgeAt: Timestamp, isRestorable: Bool) {
        self.purgeAt = purgeAt
        self.isRestorable = isRestorable
    }

    package func title(in texts: any Texts) -> String { texts.account.deleted }

    package func content(in texts: any Texts) -> HTML {
        """
        <div class="outcome">\(Drawing.done)</div>
        <h1>\(texts.account.deleted)</h1>
        <p class="lede">\(texts.account.deletedNext(texts.account.date(purgeAt)))</p>
        \(isRestorable ? "<p class=\"note\">\(texts.account.restorable)</p>" : nil)
        """
    }
}
