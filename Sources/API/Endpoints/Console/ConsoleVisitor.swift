import Accounts
import HTTP
import Logging
import Pages
import Time

/// An administrator at a browser.
struct ConsoleVisitor: Sendable {
    let administrator: Administrator
    let session: WebSession
    let browser: Browser
    fileprivate let visitor: Visitor
}

extension Credential<ConsoleVisitor> {
    /// The web session of an administrator (accounts §4.7). Whoever is signed out is sent to the login page.
    static let console = Credential(.administratorSession) { call in
        let visitor = try Credential<Visitor>.visitor.check(call)
        guard let session = visitor.session, let browser = visitor.browser else {
            if call.prefersJSON { throw Failure.invalidToken }
            let path = call.request.method == .post ? ConsoleSection.overview.path : call.location
            throw SignInRequired(path: path, browser: visitor.browser)
        }
        do {
            return ConsoleVisitor(
                administrator: try Administrator(session.user), session: session, browser: browser, visitor: visitor)
        } catch {
            throw ErrorPage.Problem.adminRequired
        }
    }
}

extension Call {
    // MARK: Forms

    /// A form of the console. Its token is for this administrator's session only.
    func form(to action: String, of console: ConsoleVisitor, _ more: PostForm.Field...) -> PostForm {
        let token = accounts.formToken(for: console.purpose(of: action), in: console.browser)
        return PostForm(action: action, hidden: [PostForm.Field("token", token)] + more)
    }

    /// Does what a form of the console asks for, and shows its page again.
    ///
    /// - Parameters:
    ///   - page: the one that the form is on.
    ///   - change: gets who changes it.
    /// - Throws: an error page if the form is not from this server, or cannot be done; `SignInRequired` if the sign-in
    ///   was longer ago than 15 minutes.
    func change(
        from page: String, by console: ConsoleVisitor, _ change: (AccountsTransaction, Operator) throws -> Void
    ) throws -> Response {
        try checkForm(for: console.purpose(of: request.path), of: console.visitor)
        try requireRecentSignIn(console.session, browser: console.browser, comingBackTo: page)
        do {
            return try commit { transaction in
                try change(transaction, .administrator(console.session))
                let separator = page.utf8.contains(UInt8(ascii: "?")) ? "&" : "?"
                return .redirect(.seeOther, to: "\(page)\(separator)done=1")
            }
        } catch let refusal as RefusedOperation {
            logger.info("a form of the console was refused", metadata: ["reason": "\(refusal)"])
            throw ErrorPage.Problem.refused
        } catch Failure.adminRequired {
            throw ErrorPage.Problem.adminRequired
        }
    }

    /// Whether a form of the page was done.
    var isDone: Bool { queryParameters["done"] != nil }
}

extension ConsoleVisitor {
    fileprivate func purpose(of action: String) -> String { "\(action) \(session.id.rawValue)" }
}
