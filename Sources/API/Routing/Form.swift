import Accounts
import ErrorCodes
import HTTP
import Text

/// The parameters of a form body (RFC 6749 Appendix B). Pairs are split at the first `=`. Characters that clients
/// should have escaped are accepted.
struct Form {
    private let body: [UInt8]
    private let parameters: QueryParameters

    private init(_ body: [UInt8]) {
        self.body = body
        parameters = QueryParameters(body)
    }

    /// All parameters as a query, as they were sent but for bytes that no query may hold.
    var query: String {
        body.split(separator: UInt8(ascii: "&"))
            .map { PercentEncoding.sanitize(String(decoding: $0, as: UTF8.self)) }.joined(separator: "&")
    }

    /// The value of a parameter; nil if it is absent or empty (RFC 6749 §3.2).
    ///
    /// - Throws: `invalid_request` if it is given more than once, or is expensive to compare.
    func value(_ name: String) throws(OAuthError) -> String? {
        let values = parameters.all(name)
        if values.count > 1 { throw OAuthError(.invalidRequest, "\(name) is given more than once") }
        guard let value = values.first, !value.isEmpty else { return nil }
        if !value.isStreamSafe {
            throw OAuthError(.invalidRequest, "\(name) has more than 30 combining marks in a row")
        }
        return value
    }

    /// - Throws: `invalid_request` if it is absent.
    func required(_ name: String) throws(OAuthError) -> String {
        guard let value = try value(name) else { throw OAuthError(.invalidRequest, "\(name) is missing") }
        return value
    }
}

extension Form {
    /// A multipart body (RFC 7578) has no parameters: no endpoint accepts one, and text inside a part could look like a
    /// parameter.
    init(of call: Call) {
        let isInParts = call.request.headers.first("content-type")?.mediaType.hasPrefix("multipart/") == true
        self.init(isInParts ? [] : call.body)
    }
}
