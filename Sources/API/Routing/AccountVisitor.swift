import Accounts
import Database
import HTTP
import Pages
import Time

/// An account visitor: a visitor who is signed in, on the pages of their own account (accounts §4.8).
struct AccountVisitor: Sendable {
    let visitor: Visitor
    let session: WebSession
    /// New if the browser has lost its cookie.
    let browser: Browser

    fileprivate init(_ visitor: Visitor, _ session: WebSession) {
        self.visitor = visitor
        self.session = session
        browser = visitor.browser ?? Browser()
    }

    var user: User { session.user }
    var caller: Caller { Caller(session) }
}

extension Credential<AccountVisitor> {
    /// An open web session.
    static let accountVisitor = Credential(.webSession) { call in
        let visitor = try Credential<Visitor>.visitor.check(call)
        guard let session = visitor.session else {
            throw SignInRequired(path: call.location, browser: visitor.browser)
        }
        return AccountVisitor(visitor, session)
    }
}

extension Route {
    /// A page of a person's own account, or its form. Whoever is not signed in, or has to sign in again, does so and comes
    /// back. No handler gets a form that is not the page's own.
    init(
        _ method: Method, _ pattern: String, _ credential: Credential<AccountVisitor>,
        _ handler: @escaping @Sendable (Call, AccountVisitor) throws -> Response
    ) {
        self.init(
            method, pattern, credential, page: true,
            answering: { call in
                let visitor = try credential.check(call)
                do {
                    if method == .post, try !call.isForm(of: visitor) { return .redirect(.seeOther, to: call.location) }
                    return try handler(call, visitor)
                } catch Failure.invalidToken {
                    // The session ended after it was looked up.
                    throw SignInRequired(path: call.location, browser: visitor.visitor.browser)
                }
            })
    }
}

extension Call {
    /// A form of the account's pages, which goes to the path of its page.
    ///
    /// - Parameter query: of the page, where the form needs it.
    func accountForm(of visitor: AccountVisitor, query: String = "", _ more: PostForm.Field...) -> PostForm {
        PostForm(
            action: query.isEmpty ? encodedPath : "\(encodedPath)?\(query)",
            hidden: [
                PostForm.Field("token", accounts.formToken(for: request.path, in: visitor.browser)),
                PostForm.Field("account", String(visitor.user.id.rawValue)),
            ] + more)
    }

    /// Whether the form that was sent was shown to the user who is signed in now. Another tab may have signed in with
    /// another account: then the page asks again.
    ///
    /// - Throws: an error page if the form is not from this server and this browser.
    fileprivate func isForm(of visitor: AccountVisitor) throws -> Bool {
        try checkForm(for: request.path, of: visitor.visitor)
        return try form.value("account") == String(visitor.user.id.rawValue)
    }

    /// - Throws: `SignInRequired` unless the visitor signed in a short while ago (accounts §4.8).
    func requireRecentSignIn(of visitor: AccountVisitor) throws {
        try requireRecentSignIn(visitor.session, browser: visitor.visitor.browser, comingBackTo: location)
    }
}

extension Response {
    /// A page of the account, with the browser's cookie if it has lost it.
    static func page(_ page: some WebPage, of visitor: AccountVisitor, _ call: Call) -> Response {
        .page(
            page, in: call.language,
            headers: visitor.visitor.browser == nil ? [call.setting(.browser, visitor.browser.cookie)] : [])
    }
}
