import Analytics
import HTTP
import Logging

/// Checks a request in the order of analytics §2.3: path and method, authentication, permission, size and gzip, content
/// type and JSON, then the endpoint. Nothing is read, inflated or parsed for a client without a key: each route reads
/// its body after it has checked the credential.
extension Responder {
    func answerOnAnalytics(_ call: Call, _ route: Route) -> Response {
        var response: Response
        do {
            response = try route.respond(to: call)
        } catch let refusal as Refusal {
            response = .refusal(refusal)
        } catch let body as UnusableBody {
            response = .refusal(body)
        } catch  where Self.isUnavailability(error) {
            call.logger.warning("database unavailable", metadata: ["error": "\(error)"])
            response = .refusal(Refusal.temporarilyUnavailable)
        } catch {
            call.logger.error("request failed", metadata: ["error": "\(error)", "route": "\(route.pattern)"])
            response = .shapeC(.internalServerError, Status.internalServerError.reason)
        }
        return response
    }
}
