import Accounts
package import Database
package import HTTP
import JSON
import Logging
import MariaDB
import OpenSSL

/// Answers requests on one thread, with that thread's database connection.
///
/// Every request takes the same way, in the order of accounts §0.2: path and method, body size, replay, credential,
/// scope, then the endpoint.
package final class Responder {
    private let service: Service
    private let database: Database
    private let metrics: RequestMetrics.Shard

    package init(service: Service, database: Database) {
        self.service = service
        self.database = database
        metrics = service.metrics.makeShard()
    }

    package func respond(to request: Request) -> Response {
        let start = ContinuousClock.now
        let requestID = request.requestID.flatMap(acceptable) ?? randomBytes(16).map(hexadecimal).joined()
        var logger = service.logger
        logger[metadataKey: "request_id"] = "\(requestID)"
        let match = service.router.match(request.method, request.path)
        var response = answer(request, match, requestID, logger)
        response.headers += [
            Response.Field("X-Request-Id", requestID), Response.Field("X-Logi-Request-Id", requestID),
            Response.Field("Cache-Control", "no-store"),
        ]
        let elapsed = ContinuousClock.now - start
        let route = if case .route(let index, _) = match { service.router.routes[index] } else { Route?.none }
        metrics.record(route: route?.pattern ?? "unmatched", request.method, response.status, elapsed)
        logger.debug(
            "request",
            metadata: [
                "method": "\(request.method.rawValue)", "route": "\(route?.pattern ?? "unmatched")",
                "status": "\(response.status.code)", "seconds": "\(elapsed.inSeconds)",
            ])
        return response
    }

    private func answer(_ request: Request, _ match: Router.Match, _ requestID: String, _ logger: Logger) -> Response {
        let surface = Surface(path: request.path, errorDocsBase: service.errorDocsBase, requestID: requestID)
        switch match {
        case .none: return surface.refusal(.notFound, "not_found")
        case .otherMethods(let allow):
            return surface.refusal(.methodNotAllowed, "method_not_allowed", headers: [Response.Field("Allow", allow)])
        case .route(let index, let arguments):
            let body: [UInt8]
            do {
                body = try request.body.collect(limit: 65_536)
            } catch .tooLarge {
                return surface.refusal(.payloadTooLarge, "payload_too_large")
            } catch {
                return surface.refusal(.badRequest, "invalid_request")
            }
            let call = Call(
                request, requestID: requestID, arguments: arguments, body: body, service: service, database: database,
                logger: logger)
            return respond(to: call, by: service.router.routes[index], surface)
        }
    }

    private func respond(to call: Call, by route: Route, _ surface: Surface) -> Response {
        do {
            // A repeated header is one of two truths.
            if call.request.headers.count(of: "authorization") > 1 { throw Failure.invalidRequest }
            if let scope = route.replay { call.idempotencyKey = try call.makeIdempotencyKey(scope) }
            if let replayed = try call.replay() { return replayed }
            return try route.respond(to: call)
        } catch {
            return refuse(call, error, surface)
        }
    }

    /// A request with a key is looked up once more before it is refused: its first copy may have committed meanwhile.
    private func refuse(_ call: Call, _ error: any Error, _ surface: Surface) -> Response {
        do {
            if let replayed = try call.replay() { return replayed }
        } catch let failure as Failure {
            return surface.refusal(failure)
        } catch {
            call.logger.debug("no second look-up", metadata: ["error": "\(error)"])
        }
        switch error {
        case let failure as Failure: return surface.refusal(failure)
        case let failure as TransactionFailure:
            call.logger.warning("transaction failed", metadata: ["error": "\(failure)"])
            return surface.refusal(.temporarilyUnavailable)
        case let error as MariaDBError where error.isConnectionLost || error.isTransient:
            call.logger.warning("database unavailable", metadata: ["error": "\(error)"])
            return surface.refusal(.temporarilyUnavailable)
        case is AlreadyAnswered, is TransactionMustRestart: return surface.refusal(.temporarilyUnavailable)
        default:
            call.logger.error("request failed", metadata: ["error": "\(error)", "path": "\(call.request.path)"])
            return surface.internalError()
        }
    }
}

/// An id that can stand in a header, a log line and a column.
private func acceptable(_ requestID: String) -> String? {
    (1...64).contains(requestID.utf8.count) && requestID.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        ? requestID : nil
}

private func hexadecimal(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16)
    return digits.count < 2 ? "0" + digits : digits
}

extension Duration {
    /// As a decimal number of seconds.
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
