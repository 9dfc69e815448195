import Accounts
import Database
import HTTP
import JSON

/// The credential that identifies a repeated request if it has no bearer token (accounts §0.5).
enum ReplayScope: Sendable {
    /// No other: the request needs a bearer token.
    case bearer
    case identityToken
    /// The device's UUID and secret.
    /// - Parameter member: the member of the body with the UUID.
    case device(_ member: String)
}

extension Call {
    /// The key of this request's idempotency record; nil if it has none.
    ///
    /// - Throws: `invalidRequest` if the key is not 1 to 255 visible ASCII characters, or is too short where only the
    ///   key protects the answer.
    func makeIdempotencyKey(_ scope: ReplayScope) throws -> IdempotencyKey? {
        guard let key = request.headers.first("idempotency-key") else { return nil }
        guard IdempotencyKey.isKey(key) else { throw Failure.invalidRequest }
        if case .device = scope, key.utf8.count < 22 { throw Failure.invalidRequest }
        guard let credential = replayCredential(scope) else { return nil }
        return IdempotencyKey(
            credential: Array(credential.utf8), key: key,
            request: [
                Array(request.method.rawValue.utf8), Array(request.path.utf8),
                Array((request.headers.first("if-match") ?? "").utf8), body,
            ])
    }

    /// Nil if the request has no credential. It will be refused, and refusals are not stored.
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

    /// The stored answer of an earlier copy of this request; nil if there is none.
    ///
    /// - Throws: `idempotencyKeyReused` if the key was used for another request.
    func replay() throws -> Response? {
        guard let idempotencyKey else { return nil }
        try database.catchUp()
        switch try database.read({ try accounts.lookUp(idempotencyKey, $0) }) {
        case .unknown: return nil
        case .reused: throw Failure.idempotencyKeyReused
        case .answered(let stored):
            var response = try StoredAnswer(json: stored).response
            response.headers.append(HeaderField("Idempotency-Replayed", "true"))
            return response
        }
    }
}

/// An answer as an idempotency record stores it.
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
            Status(status), headers: headers.map { HeaderField($0.name, $0.value) }, body: Array(body.utf8))
    }
}
