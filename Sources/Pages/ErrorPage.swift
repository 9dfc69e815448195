package import HTTP

/// What cannot go on, why, and what a person does next. Never a redirect.
package struct ErrorPage: WebPage {
    package enum Problem: Error, CaseIterable, Sendable {
        /// The client is unknown or not active.
        case unknownApplication
        /// The redirect URI is absent or not registered.
        case unknownRedirect
        /// A parameter is missing, malformed or repeated.
        case invalidRequest
        /// The stored request is gone: 15 minutes have passed.
        case expired
        /// The browser's cookie is missing or belongs to another request.
        case otherBrowser
        /// The token against forgery or the Origin is wrong.
        case forged
        case notFound
        /// Somebody is signed in who is no administrator.
        case adminRequired
        /// What a form asks for cannot be done to what is there now.
        case refused
        case rateLimited
        case unavailable
        case unforeseen

        package var status: Status {
            switch self {
            case .unknownApplication, .unknownRedirect, .invalidRequest, .expired, .otherBrowser, .refused: .badRequest
            case .forged, .adminRequired: .forbidden
            case .notFound: .notFound
            case .rateLimited: .tooManyRequests
            case .unavailable: .serviceUnavailable
            case .unforeseen: .internalServerError
            }
        }
    }

    var problem: Problem
    /// The request's id, by which the logs tell more.
    var reference: String
    /// Whether an application sent the person here, so that they can go back to it.
    var isFromApplication: Bool
    /// `/diagnose` with the request's parameters, where the application's makers can learn more.
    var diagnosis: String?

    package init(_ problem: Problem, reference: String, isFromApplication: Bool, diagnosis: String? = nil) {
        self.problem = problem
        self.reference = reference
        self.isFromApplication = isFromApplication
        self.diagnosis = diagnosis
    }

    package func title(in texts: any Texts) -> String { "\(texts.errorPrefix): \(texts.heading(problem))" }

    package func content(in texts: any Texts) -> HTML {
        let diagnosis = diagnosis.map { href -> HTML in
            "<p class=\"note\">\(texts.forDevelopers) <a href=\"\(href)\">\(texts.diagnoseThis)</a></p>"
        }
        return """
            <div class="outcome">\(Drawing.stopped)</div>
            <div role="alert">
            <h1>\(texts.heading(problem))</h1>
            <p class="lede">\(texts.explanation(problem))\(startAgain(in: texts).map { " \($0)" as HTML })</p>
            </div>
            \(diagnosis)
            <p class="reference">\(texts.reference): <bdi>\(reference)</bdi></p>
            """
    }

    /// What helps where a way that was begun has broken off.
    private func startAgain(in texts: any Texts) -> String? {
        switch problem {
        case .invalidRequest, .expired, .otherBrowser, .forged:
            isFromApplication ? texts.startAgainInApp : texts.startAgain
        case .unknownApplication, .unknownRedirect, .notFound, .adminRequired, .refused, .rateLimited, .unavailable,
            .unforeseen:
            nil
        }
    }
}
