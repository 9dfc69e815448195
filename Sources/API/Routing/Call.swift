import Accounts
import Analytics
import Database
import HTTP
import JSON
import Logging

/// One request, with everything that its handler may use.
final class Call {
    let request: Request
    let requestID: String
    /// The path segments that the pattern's braces matched.
    let arguments: [String]
    /// The body; empty until the surface's order of checks reads it.
    var body: [UInt8] = []
    let service: Service
    let database: Database
    let surface: Surface
    /// Parsed on first use.
    private(set) lazy var form = Form(of: self)
    /// The body's JSON; an absent body counts as `{}`. Parsed on first use. A failure if it is malformed, or if its
    /// strings are expensive to compare.
    private(set) lazy var json = Result { () throws(JSONError) in
        try ParsedJSON(body.isEmpty ? Array("{}".utf8) : body, isCompared: true)
    }
    /// A logger with the request's id.
    var logger: Logger {
        var logger = service.logger
        logger[metadataKey: "request_id"] = "\(requestID)"
        return logger
    }
    /// Set if the request has an Idempotency-Key and its endpoint accepts one.
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
    /// - Throws: `invalidRequest` if the body is not a JSON object, if a known member has the wrong type, or if a text
    ///   is expensive to compare.
    func decode<Body: Decodable>(_ type: Body.Type = Body.self) throws -> Body {
        do {
            return try json.get().decode()
        } catch {
            throw Failure.invalidRequest
        }
    }

    /// Whether the body has a member of this name. For members that most requests lack: to decode them takes longer.
    ///
    /// - Throws: `invalidRequest` if the body is not a JSON object.
    func hasMember(_ name: String) throws -> Bool {
        guard let object = (try? json.get())?.root.object else { throw Failure.invalidRequest }
        return object.member(name) != nil
    }

    /// Where a change that the request makes came from.
    var origin: Origin {
        Origin(
            requestID: requestID, address: request.remoteAddress, claimedDevice: request.headers.first("x-device-uuid"),
            userAgent: request.headers.first("user-agent"))
    }

    /// Runs a rule in one transaction, and stores its answer under the request's Idempotency-Key if it has one. So no
    /// effect is committed without its answer. The closure may run again.
    ///
    /// If the closure returns, also with a refusal, the transaction is committed. If it throws, it is rolled back. A
    /// HEAD request is also rolled back, because HEAD is safe (RFC 9110 §9.2.1): a program that only checks a link must
    /// not use it up.
    ///
    /// - Parameter keepsRefusals: whether a refusal is stored under the key too, because it contains something that is
    ///   shown once.
    func commit(keepsRefusals: Bool = false, _ rule: (AccountsTransaction) throws -> Response) throws -> Response {
        let answer = idempotencyKey.map { key in
            KeptAnswer<Response>(under: key, sealedWith: accounts.serverKey) { response in
                response.status.isSuccess || keepsRefusals ? StoredAnswer(response).json() : nil
            }
        }
        let isRehearsal = request.method == .head
        var response = try Accounts.write(
            database, at: accounts.clock, from: origin, keeping: answer, isRehearsal: isRehearsal, rule)
        // The cookies would be for sessions that were rolled back, and would replace valid ones.
        if isRehearsal { response.headers.removeAll { $0.name == "Set-Cookie" } }
        return response
    }
}
