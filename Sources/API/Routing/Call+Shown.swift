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

extension Call {
    /// The answer of a route with pages. If a refusal is not a page, it becomes one, unless the client prefers JSON.
    func shown(_ response: Response) -> Response {
        guard response.status.code >= 400, response.header("Content-Type") == "application/json", !prefersJSON else {
            return response
        }
        let page = ErrorPage(ErrorPage.Problem(response.status), reference: requestID)
        return .page(
            page, response.status, in: language, headers: response.headers.filter { $0.name == "Retry-After" })
    }
}
