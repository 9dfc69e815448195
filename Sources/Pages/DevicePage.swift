/// Where a person types the code that a device shows (RFC 8628 §3.3).
package struct DevicePage: WebPage {
    package enum Notice: Equatable, Sendable {
        case unknownCode
        case tooManyTries
    }

    /// Gets `user_code`.
    var form: PostForm
    /// What was typed, or came with `verification_uri_complete`.
    var userCode: String
    var notice: Notice?

    package init(form: PostForm, userCode: String = "", notice: Notice? = nil) {
        self.form = form
        self.userCode = userCode
        self.notice = notice
    }

    package func title(in texts: any Texts) -> String {
        notice == nil ? texts.connectADevice : "\(texts.errorPrefix): \(texts.connectADevice)"
    }

    package func content(in texts: any Texts) -> HTML {
        let fault: HTML = notice == nil ? .empty : " aria-invalid=\"true\" aria-describedby=\"alert\""
        let controls: HTML = """
            <label for="user_code">\(texts.codeLabel)</label>
            <input class="code" id="user_code" name="user_code" type="text" value="\(userCode)" required autofocus \
            maxlength="20" autocomplete="off" autocapitalize="characters" autocorrect="off" spellcheck="false" \
            inputmode="text" enterkeyhint="go" dir="ltr"\(fault)>
            <button class="button primary">\(texts.continueButton)</button>
            """
        return """
            <h1>\(texts.connectADevice)</h1>
            <p class="lede">\(texts.typeTheCode)</p>
            \(notice.map { alert(texts.notice($0)) })
            \(form.html(controls))
            """
    }
}
