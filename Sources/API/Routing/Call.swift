import Accounts
import Analytics
import Database
import HTTP
import JSON
import Logging
import MariaDB

/// One request on its way to its handler and back, with what the handler may use.
final class Call {
    let request: Request
    let requestID: String
    /// What the pattern's braces matched.
    let arguments: [String]
    /// What the endpoint reads; empty until the surface's order of checks has come to it.
    var body: [UInt8] = []
    let service: Service
    let database: Database
    let surface: Surface
    /// Parsed when it is first asked for.
    private(set) lazy var form = Form(of: self)
    /// The body's JSON; an absent body counts as `{}`. Parsed when it is first asked for. A failure if it is malformed, or if
    /// comparing its strings would take long.
    private(set) lazy var json = Result { () throws(JSONError) in
        try ParsedJSON(body.isEmpty ? Array("{}".utf8) : body, isCompared: true)
    }
    /// With the request's id. Made when there is something to say.
    var logger: Logger {
        var logger = service.logger
        logger[metadataKey: "request_id"] = "\(requestID)"
        return logger
    }
    /// Set when the request carries an Idempotency-Key and its endpoint takes one.
    var idempotencyKey: IdempotencyKey?

    init(
        _ request: Request, requestID: String, arguments: [String], service: Service, database: Database,
        surface: Surface
    ) {
        self.request = request
        self.requestID = requestID
        self.arguments = arguments
        self.service = service
        self.database = database
        self.surface = surface
    }

    var accounts: Accounts { service.accounts }
    var analytics: Analytics { service.analytics }
    /// On the analytics surface an empty value means that the parameter is absent (analytics §2.1).
    var queryParameters: QueryParameters {
        let parameters = QueryParameters(request.query)
        return surface.isAnalytics ? parameters.withoutEmptyValues : parameters
    }

    /// The body's members.
    ///
    /// - Throws: `invalidRequest` for what is no JSON object, a known member of the wrong type, or text that takes long to
    ///   compare.
    func decode<Body: Decodable>(_ type: Body.Type = Body.self) throws -> Body {
        do {
            return try json.get().decode()
        } catch {
            throw Failure.invalidRequest
        }
    }

    /// Runs a rule in one transaction and keeps its answer under the request's Idempotency-Key, if it has one, so that no
    /// effect exists without its answer. The closure may run again.
    ///
    /// What the closure returns is committed, refusals included; what it throws leaves nothing behind. Nor does a HEAD
    /// request, which is safe (RFC 9110 §9.2.1): whoever checks a link must not use up the sign-in that it is good for.
    ///
    /// - Parameter keepsRefusals: whether a refusal is kept under the key as well, for something it carries.
    func commit(keepsRefusals: Bool = false, _ rule: (AccountsTransaction) throws -> Response) throws -> Response {
        let origin = Origin(
            requestID: requestID, address: request.remoteAddress, claimedDevice: request.headers.first("x-device-uuid"),
            userAgent: request.headers.first("user-agent"))
        let answer = idempotencyKey.map { key in
            KeptAnswer<Response>(under: key, sealedWith: accounts.serverKey) { response in
                response.status.isSuccess || keepsRefusals ? StoredAnswer(response).json() : nil
            }
        }
        let isRehearsal = request.method == .head
        var response = try Accounts.write(
            database, at: accounts.clock, from: origin, keeping: answer, isRehearsal: isRehearsal, rule)
        // They would open what is not there, and replace those that do.
        if isRehearsal { response.headers.removeAll { $0.name == "Set-Cookie" } }
        return response
    }
}
