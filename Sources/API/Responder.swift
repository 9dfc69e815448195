import Accounts
import Analytics
package import Database
package import HTTP
import Logging
import MariaDB
import OpenSSL
import Text

/// Answers requests on one thread, with that thread's database connection.
///
/// Every request passes the checks of its path's surface in the same order: see `Responder+Accounts.swift` and
/// `Responder+Analytics.swift`.
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
        let requestID = request.requestID.flatMap(acceptable) ?? randomBytes(16).hexadecimal
        database.origin = requestID
        let match = service.router.match(request.method, request.path)
        let surface = Surface(path: request.path, errorDocsBase: service.errorDocsBase, requestID: requestID)
        var response = answer(request, match, surface, requestID)
        surface.label(&response)
        response.headers.append(HeaderField("X-Request-Id", requestID))
        response.headers.append(HeaderField("X-Logi-Request-Id", requestID))
        if response.header("Cache-Control") == nil {
            response.headers.append(HeaderField("Cache-Control", "no-store"))
        }
        let elapsed = ContinuousClock.now - start
        let route = if case .route(let index, _) = match { service.router.routes[index] } else { Route?.none }
        metrics.record(
            route: route?.pattern ?? "unmatched", request.method, response, elapsed, waited: request.waited)
        service.logger.debug(
            "request",
            metadata: [
                "request_id": "\(requestID)",
                "method": "\(request.method.rawValue)", "route": "\(route?.pattern ?? "unmatched")",
                "status": "\(response.status.code)", "seconds": "\(elapsed.inSeconds)",
            ])
        return response
    }

    private func answer(
        _ request: Request, _ match: Router.Match, _ surface: Surface, _ requestID: String
    ) -> Response {
        switch match {
        case .none: return surface.notFound(request)
        case .otherMethods(let allow, let isCrossOrigin):
            if isCrossOrigin && request.method == .options { return .preflight }
            let refusal = surface.methodNotAllowed(request, allow: allow)
            return isCrossOrigin ? refusal.readableByOtherOrigins : refusal
        case .route(let index, let arguments):
            let call = Call(
                request, requestID: requestID, arguments: arguments, service: service, database: database,
                surface: surface)
            let route = service.router.routes[index]
            // A request is refused before its body is read and the database is used. Once begun, it is finished.
            let isShed = service.loadShedder.sheds(request, call.logger)
            if surface.isAnalytics {
                return isShed ? .refusal(Refusal.temporarilyUnavailable) : answerOnAnalytics(call, route)
            }
            var response =
                isShed ? surface.refusal(.temporarilyUnavailable) : answerOnAccounts(call, route, surface)
            if route.isPage { response = call.shown(response) }
            return route.isCrossOrigin ? response.readableByOtherOrigins : response
        }
    }

    /// Whether a request failed only because the database was unavailable, so that the same request may succeed later.
    static func isUnavailability(_ error: any Error) -> Bool {
        switch error {
        case is TransactionFailure, is TransactionMustRestart: true
        case let error as MariaDBError: error.isConnectionLost || error.isTransient || error.isShortage
        default: false
        }
    }
}

/// Returns the id if it can be written to a header, a log line and a column.
private func acceptable(_ requestID: String) -> String? {
    let bytes = requestID.utf8Span.span
    guard (1...64).contains(bytes.count) else { return nil }
    for index in bytes.indices where !(0x21...0x7E).contains(bytes[index]) { return nil }
    return requestID
}

extension Duration {
    /// The duration as a decimal number of seconds.
    var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
