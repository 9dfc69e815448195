import Accounts
import Database
import HTTP
import Logging

/// `POST /oauth/token` (accounts §2.5, §2.6, §2.11, §3.8): tokens for a code, a refresh token or an approved device.
@Sendable func issueTokens(_ call: Call, _ request: TokenRequest) throws -> Response {
    // A code or token that another node issued a moment ago must not be unknown here.
    try call.database.catchUp()
    return try call.answerWithTokens { transaction in
        switch request {
        case .code(let exchange, let application):
            try call.accounts.exchange(exchange, by: application, in: transaction)
        case .refresh(let refresh, let credentials):
            try call.accounts.refresh(refresh, by: credentials, in: transaction)
        case .poll(let deviceCode, let application):
            try call.accounts.poll(deviceCode, by: application, in: transaction)
        }
    }
}

extension Call {
    /// Runs a rule in one transaction, and commits the refusals that it returns. Then records that tokens were issued.
    fileprivate func answerWithTokens(_ rule: (AccountsTransaction) throws -> TokenOutcome) throws -> Response {
        var noted: TokenActivity?
        let response = try commit { transaction in
            switch try rule(transaction) {
            case .issued(let body, let activity, let hasScopeDrift):
                noted = activity
                return Response(
                    .ok,
                    headers: [
                        HeaderField("Content-Type", "application/json"), HeaderField("Pragma", "no-cache"),
                    ] + (hasScopeDrift ? [HeaderField("X-Logi-Scope-Drift", "1")] : []), body: body)
            case .refused(let error): return surface.refusal(error, to: request)
            }
        }
        if let noted {
            do {
                try database.autocommit { try accounts.note(noted, $0) }
            } catch {
                logger.debug("the user's last activity could not be recorded", metadata: ["error": "\(error)"])
            }
        }
        return response
    }
}
