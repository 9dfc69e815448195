import Accounts
import Database
import HTTP
import Pages

/// Pending requests: how a visitor's request is found, the paths of its pages, and their forms.
extension Call {
    /// The visitor's pending request with a handle.
    ///
    /// - Throws: an error page if there is none.
    func pendingRequest(_ handle: String?, of visitor: Visitor) throws -> PendingRequest {
        guard let browser = visitor.browser else { throw ErrorPage.Problem.otherBrowser }
        let pending = try handle.flatMap { handle in
            try database.find { try accounts.pendingRequest(handle, in: browser, $0) }
        }
        guard let pending else { throw ErrorPage.Problem.expired }
        return pending
    }

    /// The pending request whose form was sent. The form must come from this browser and from no other site.
    ///
    /// - Throws: an error page if the form is refused.
    func submittedRequest(of visitor: Visitor) throws -> PendingRequest {
        guard let handle = try form.value("request") else { throw ErrorPage.Problem.forged }
        try checkForm(for: handle, of: visitor)
        return try pendingRequest(handle, of: visitor)
    }

    /// The application of a pending request.
    ///
    /// - Throws: an error page if the application is not active any more or no longer has the redirect URI.
    func application(of request: AuthorizationRequest) throws -> Application {
        guard let application = try database.read({ try $0.client(request.clientID) }), application.isActive else {
            throw ErrorPage.Problem.unknownApplication
        }
        guard application.redirectURIs.contains(where: { $0.utf8.elementsEqual(request.redirectURI.utf8) }) else {
            throw ErrorPage.Problem.unknownRedirect
        }
        return application
    }

    /// A form that only the pending request's browser can send.
    func form(to action: String, for pending: PendingRequest, _ more: PostForm.Field...) -> PostForm {
        PostForm(
            action: action,
            hidden: [
                PostForm.Field("request", pending.handle),
                PostForm.Field("token", accounts.formToken(for: pending.handle, in: pending.browser)),
            ] + more)
    }

    /// Redirects the browser to the next step.
    func response(to step: AuthorizationStep) -> Response {
        switch step {
        case .back(let location): .redirect(.found, to: location)
        case .signIn(let pending): .redirect(.seeOther, to: pending.path("/oauth/login"))
        case .consent(let pending): .redirect(.seeOther, to: pending.path("/oauth/consent"))
        }
    }
}

extension PendingRequest {
    /// The path of a page for this request.
    func path(_ page: String) -> String { "\(page)?request=\(handle)" }

    /// The path where the request continues after the sign-in.
    var nextPath: String {
        switch purpose {
        case .authorization: path("/oauth/consent")
        case .device: path("/oauth/device")
        case .page(let path): path
        case .account: "/account"
        }
    }

    /// Whether a provider must not go on by itself with the account that it remembers: a new sign-in is required, a
    /// certain account is meant, or another one may be, as it is by whoever is signed in already.
    var asksAgain: Bool {
        if staleSession != nil { return true }
        return switch purpose {
        case .authorization(let request):
            request.prompts.contains(.login) || request.prompts.contains(.selectAccount) || request.hintedSub != nil
        case .account: true
        case .device, .page: false
        }
    }
}
