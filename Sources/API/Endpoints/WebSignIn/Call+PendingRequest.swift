import Accounts
import HTTP
import Pages

/// A request that waits in a browser: how a visitor's is found, where its pages are, and the forms on them.
extension Call {
    /// The request that waits in the browser under a handle.
    ///
    /// - Throws: the page that says why there is none.
    func pendingRequest(_ handle: String?, of visitor: Visitor) throws -> PendingRequest {
        guard let browser = visitor.browser else { throw ErrorPage.Problem.otherBrowser }
        let pending = try handle.flatMap { handle in
            try database.read { try accounts.pendingRequest(handle, in: browser, $0) }
        }
        guard let pending else { throw ErrorPage.Problem.expired }
        return pending
    }

    /// The request whose form was sent, by this browser and from no other site.
    ///
    /// - Throws: the page that says why it is refused.
    func submittedRequest(of visitor: Visitor) throws -> PendingRequest {
        guard let handle = try form.value("request") else { throw ErrorPage.Problem.forged }
        try checkForm(for: handle, of: visitor)
        return try pendingRequest(handle, of: visitor)
    }

    /// The application that a waiting request is of.
    ///
    /// - Throws: the page that says that it has changed meanwhile.
    func application(of request: AuthorizationRequest) throws -> Application {
        guard let application = try database.read({ try $0.client(request.clientID) }), application.isActive else {
            throw ErrorPage.Problem.unknownApplication
        }
        guard application.redirectURIs.contains(where: { $0.utf8.elementsEqual(request.redirectURI.utf8) }) else {
            throw ErrorPage.Problem.unknownRedirect
        }
        return application
    }

    /// A form that only the browser can send in which the request waits.
    func form(to action: String, for pending: PendingRequest, _ more: PostForm.Field...) -> PostForm {
        PostForm(
            action: action,
            hidden: [
                PostForm.Field("request", pending.handle),
                PostForm.Field("token", accounts.formToken(for: pending.handle, in: pending.browser)),
            ] + more)
    }

    /// Sends the browser where the step says.
    func response(to step: AuthorizationStep) -> Response {
        switch step {
        case .back(let location): .redirect(.found, to: location)
        case .signIn(let pending): .redirect(.seeOther, to: pending.path("/oauth/login"))
        case .consent(let pending): .redirect(.seeOther, to: pending.path("/oauth/consent"))
        }
    }
}

extension PendingRequest {
    /// A page for this request.
    func path(_ page: String) -> String { "\(page)?request=\(handle)" }

    /// Where it goes on once its person is signed in.
    var nextPath: String {
        switch purpose {
        case .authorization: path("/oauth/consent")
        case .device: path("/oauth/device")
        }
    }
}
