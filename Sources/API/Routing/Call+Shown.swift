import ErrorCodes
import HTTP
import Pages

extension ErrorPage.Problem {
    /// The problem that the error page shows for a refusal with this status.
    fileprivate init(_ status: Status) {
        self =
            switch status {
            case .forbidden: .forged
            case .notFound: .notFound
            case .tooManyRequests: .rateLimited
            case .serviceUnavailable: .unavailable
            case _ where status.code < 500: .invalidRequest
            default: .unforeseen
            }
    }
}

extension ErrorPage.Problem {
    /// What a client is told that prefers JSON.
    fileprivate var reply: ErrorReply {
        switch self {
        case .unknownApplication:
            ErrorReply(error: .invalidClient, errorDescription: "there is no active client with this client_id")
        case .unknownRedirect:
            ErrorReply(error: .invalidRequest, errorDescription: "redirect_uri is not registered for this client")
        case .invalidRequest:
            ErrorReply(error: .invalidRequest, errorDescription: "a parameter is missing, malformed or repeated")
        case .expired:
            ErrorReply(error: .invalidRequest, errorDescription: "what was begun is unknown, or older than 15 minutes")
        case .otherBrowser:
            ErrorReply(error: .invalidRequest, errorDescription: "the cookie of the browser that began is missing")
        case .forged:
            ErrorReply(error: .invalidRequest, errorDescription: "the form does not come from a page of this browser")
        case .notFound: ErrorReply(error: .notFound)
        case .adminRequired: ErrorReply(error: .adminRequired)
        case .refused:
            ErrorReply(error: .invalidRequest, errorDescription: "what the form asks for cannot be done any more")
        case .rateLimited: ErrorReply(error: .rateLimited)
        case .unavailable: ErrorReply(error: .temporarilyUnavailable)
        case .unforeseen: ErrorReply(error: .internalError)
        }
    }
}

extension Call {
    /// The refusal of a route with pages: the page or, if the client prefers JSON, an error (accounts §0.2).
    ///
    /// - Parameter diagnosis: as for `ErrorPage`.
    func refusal(_ problem: ErrorPage.Problem, diagnosis: String? = nil) -> Response {
        if prefersJSON { return surface.refusal(problem.reply, problem.status) }
        var response = Response.page(
            ErrorPage(problem, reference: requestID, isFromApplication: isFromApplication, diagnosis: diagnosis),
            problem.status, in: language)
        response.refusal = problem.reply.error.rawValue
        return response
    }

    /// The answer of a route with pages. If a refusal is not a page, it becomes one, unless the client prefers JSON.
    func shown(_ response: Response) -> Response {
        guard response.status.code >= 400, response.header("Content-Type") == "application/json", !prefersJSON else {
            return response
        }
        let page = ErrorPage(
            ErrorPage.Problem(response.status), reference: requestID, isFromApplication: isFromApplication)
        var shown = Response.page(
            page, response.status, in: language, headers: response.headers.filter { $0.name == "Retry-After" })
        shown.refusal = response.refusal
        return shown
    }

    /// Whether the page is one to which only applications send people. Who signs in may also come from the console, the account
    /// page or a device.
    private var isFromApplication: Bool {
        ["/oauth/authorize", "/oauth/logout"].contains { request.path.utf8.elementsEqual($0.utf8) }
    }
}
