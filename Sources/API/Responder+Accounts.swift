import Accounts
import ErrorCodes
import HTTP
import Logging
import Pages

/// Checks a request in the order of accounts §0.2: path and method, body size, replay, credential, scope, then the
/// endpoint.
extension Responder {
    func answerOnAccounts(_ call: Call, _ route: Route, _ surface: Surface) -> Response {
        do {
            call.body = try call.request.body.collect(limit: 65_536)
        } catch .tooLarge {
            return surface.refusal(with: .payloadTooLarge)
        } catch {
            return surface.refusal(with: .invalidRequest)
        }
        do {
            // If the header is repeated, it is not clear which one counts.
            if call.request.headers.count(of: "authorization") > 1 { throw Failure.invalidRequest }
            if let scope = route.replay { call.idempotencyKey = try call.makeIdempotencyKey(scope) }
            if let replayed = try call.replay() { return replayed }
            return try respond(to: call, route)
        } catch {
            return refuse(call, error, surface)
        }
    }

    private func respond(to call: Call, _ route: Route) throws -> Response {
        do {
            return try route.respond(to: call)
        } catch let required as SignInRequired {
            return try call.response(to: required)
        }
    }

    /// Before a request with an Idempotency-Key is refused, its answer is looked up again: the first copy may have
    /// committed in the meantime.
    private func refuse(_ call: Call, _ error: any Error, _ surface: Surface) -> Response {
        do {
            if let replayed = try call.replay() { return replayed }
        } catch let failure as Failure {
            return surface.refusal(failure)
        } catch {
            call.logger.debug("the stored answer could not be looked up again", metadata: ["error": "\(error)"])
        }
        switch error {
        case let failure as Failure: return surface.refusal(failure)
        case let problem as ErrorPage.Problem: return call.refusal(problem)
        case let error as OAuthError: return surface.refusal(error, to: call.request)
        case let error as SigningKeyUnavailable:
            call.logger.error("no tokens can be issued", metadata: ["error": "\(error)"])
            return surface.refusal(.temporarilyUnavailable)
        case is AlreadyAnswered: return surface.refusal(.temporarilyUnavailable)
        case _ where Self.isUnavailability(error):
            call.logger.warning("database unavailable", metadata: ["error": "\(error)"])
            return surface.refusal(.temporarilyUnavailable)
        default:
            call.logger.error("request failed", metadata: ["error": "\(error)", "path": "\(call.request.path)"])
            return surface.internalError()
        }
    }
}
