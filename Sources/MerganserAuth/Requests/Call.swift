import Foundation
import MerganserClient

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request to the server, and whether it may be sent twice.
struct Call: Sendable {
    var method: String
    /// With its query, below the server's base URL.
    var path: String
    var bearer: String?
    var idempotencyKey: String?
    var ifMatch: String?
    var body: Data?
    var contentType: String?
    /// Whether sending it again does no harm.
    var isRepeatable: Bool

    /// - Parameter isRepeatable: GET always is, unless this says otherwise.
    init(_ method: String, _ path: String, bearer: String? = nil, isRepeatable: Bool? = nil) {
        self.method = method
        self.path = path
        self.bearer = bearer
        self.isRepeatable = isRepeatable ?? (method == "GET")
    }

    /// A form (RFC 6749 §4.1.3).
    init(_ path: String, form: [(String, String)], isRepeatable: Bool = false) {
        self.init("POST", path)
        body = Data(formEncoded(form).utf8)
        contentType = "application/x-www-form-urlencoded"
        self.isRepeatable = isRepeatable
    }

    /// What was written down, as it was.
    init(_ pending: PendingRequest) {
        self.init("POST", pending.path, bearer: pending.bearer)
        idempotencyKey = pending.key
        ifMatch = pending.ifMatch
        body = pending.body
        contentType = pending.contentType
        isRepeatable = true
    }

    /// With a body, members in snake case.
    func json(_ value: some Encodable) throws -> Call { json(encoded: try Server.encoder.encode(value)) }

    func json(encoded body: Data) -> Call {
        var call = self
        (call.body, call.contentType) = (body, "application/json")
        return call
    }

    /// Whether it changes nothing.
    var isRead: Bool { method == "GET" }

    func request(below base: URL, timeout: Duration) throws(MerganserError) -> URLRequest {
        guard let url = URL(string: base.withoutFinalSlash + path) else {
            throw .configurationRefused(.issuer)
        }
        var request = URLRequest(url: url, timeoutInterval: timeout.seconds)
        request.httpMethod = method
        request.httpBody = body
        request.httpShouldHandleCookies = false
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        request.setValue(contentType, forHTTPHeaderField: "Content-Type")
        request.setValue(bearer.map { "Bearer \($0)" }, forHTTPHeaderField: "Authorization")
        request.setValue(idempotencyKey, forHTTPHeaderField: "Idempotency-Key")
        request.setValue(ifMatch.map { "\"\($0)\"" }, forHTTPHeaderField: "If-Match")
        return request
    }
}

/// The pairs of a URL's query, where `+` is a space.
func queryPairs(of url: URL) -> [(name: String, value: String)] {
    let items = URLComponents(url: url, resolvingAgainstBaseURL: true)?.percentEncodedQueryItems ?? []
    func decoded(_ text: String) -> String { text.replacing("+", with: "%20").removingPercentEncoding ?? text }
    return items.map { (decoded($0.name), decoded($0.value ?? "")) }
}
