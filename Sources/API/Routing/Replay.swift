import Accounts
import HTTP
import JSON

/// Which credential a repeated request is recognized by when it carries no bearer token (accounts §0.5).
enum ReplayScope: Sendable {
    /// None: it is refused without one.
    case bearer
    case identityToken
    /// The device's UUID and secret.
    /// - Parameter member: the body's name for the UUID.
    case device(_ member: String)
}

extension Call {
    /// The name of this request's idempotency record; nil when it has none.
    ///
    /// - Throws: `invalidRequest` for a key that is not 1 to 255 visible ASCII characters, or too short to protect the
    ///   answer where nothing else does.
    func makeIdempotencyKey(_ scope: ReplayScope) throws -> IdempotencyKey? {
        guard let key = request.headers.first("idempotency-key") else { return nil }
        guard (1...255).contains(key.utf8.count), key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Failure.invalidRequest
        }
        if case .device = scope, key.utf8.count < 22 { throw Failure.invalidRequest }
        guard let credential = replayCredential(scope) else { return nil }
        return IdempotencyKey(
            credential: Array(credential.utf8), key: key,
            request: [
                Array(request.method.rawValue.utf8), Array(request.path.utf8),
                Array((request.headers.first("if-match") ?? "").utf8), body,
            ])
    }

    /// Nil when the request has no credential: it will be refused, and nothing is stored for refusals.
    private func replayCredential(_ scope: ReplayScope) -> String? {
        if let token = bearerToken() { return "bearer\n" + token }
        guard let body = try? decode(JSONValue.self) else { return nil }
        switch scope {
        case .bearer: return nil
        case .identityToken: return body["identity_token"]?.string.map { "identity_token\n" + $0 }
        case .device(let member):
            return body[member]?.string.map {
                "device\n" + $0.lowercased() + "\n" + (body["device_secret"]?.string ?? "")
            }
        }
    }

    /// The answer of an earlier copy of this request, byte for byte; nil when there was none.
    ///
    /// - Throws: `idempotencyKeyReused` when the key was used for something else.
    func replay() throws -> Response? {
        guard let idempotencyKey else { return nil }
        switch try database.read({ try accounts.lookUp(idempotencyKey, $0) }) {
        case .unknown: return nil
        case .reused: throw Failure.idempotencyKeyReused
        case .answered(let stored):
            var response = try StoredAnswer(json: stored).response
            response.headers.append(Response.Field("Idempotency-Replayed", "true"))
            return response
        }
    }
}

/// An answer as an idempotency record keeps it.
struct StoredAnswer: Codable {
    private struct Field: Codable {
        var name: String
        var value: String
    }

    private var status: Int
    private var headers: [Field]
    private var body: String

    init(_ response: Response) {
        status = response.status.code
        headers = response.headers.map { Field(name: $0.name, value: $0.value) }
        body = String(decoding: response.body, as: UTF8.self)
    }

    var response: Response {
        Response(
            Status(status), headers: headers.map { Response.Field($0.name, $0.value) }, body: Array(body.utf8))
    }
}
