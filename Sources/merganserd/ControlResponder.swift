import ErrorCodes
import HTTP
import JSON

/// Answers /healthz, /readyz and /metrics, for the operator only: nginx serves these paths on loopback addresses.
struct ControlResponder {
    let instance: String
    let readiness: Readiness
    let metrics: Metrics

    func respond(to request: Request) -> Response {
        switch (request.path, request.method) {
        case ("/healthz", .get), ("/healthz", .head):
            // The database is not checked, because restarting this process would not fix it.
            return json(.ok, Health(status: "alive", instance: instance))
        case ("/readyz", .get), ("/readyz", .head):
            let report = readiness.report
            return json(
                report.isReady ? .ok : .serviceUnavailable,
                Ready(
                    ready: report.isReady, degraded: report.degraded.isEmpty ? nil : true, instance: instance,
                    missing: report.missing + report.degraded))
        case ("/metrics", .get), ("/metrics", .head):
            return Response(
                .ok,
                headers: [
                    HeaderField("Content-Type", "text/plain; version=0.0.4; charset=utf-8"),
                    HeaderField("Cache-Control", "no-store"),
                ], body: Array(metrics.text(isReady: readiness.report.isReady, readiness.upkeep, readiness.node).utf8))
        case ("/healthz", _), ("/readyz", _), ("/metrics", _):
            var response = refusal(.methodNotAllowed)
            response.headers.append(HeaderField("Allow", "GET, HEAD"))
            return response
        default:
            return refusal(.notFound)
        }
    }

    private func refusal(_ code: ErrorCode) -> Response { json(code.status, ["error": code]) }

    private func json(_ status: Status, _ body: some Encodable) -> Response {
        Response(
            status,
            headers: [
                HeaderField("Content-Type", "application/json"), HeaderField("Cache-Control", "no-store"),
            ], body: body.json())
    }

    private struct Health: Encodable {
        let status: String
        let instance: String
    }

    private struct Ready: Encodable {
        let ready: Bool
        /// True if something is missing that the instance can serve without; left out otherwise.
        let degraded: Bool?
        let instance: String
        let missing: [Readiness.Report.Missing]
    }
}
