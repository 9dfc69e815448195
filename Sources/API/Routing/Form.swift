import Accounts
import HTTP
import Text

/// A form body's parameters (RFC 6749 Appendix B): pairs are split at the first `=`, characters that clients should have
/// escaped are taken as they are.
struct Form {
    private let parameters: QueryParameters

    private init(_ body: [UInt8]) { parameters = QueryParameters(body) }

    /// The value of a parameter; nil when it is absent or has none (RFC 6749 §3.2).
    ///
    /// - Throws: `invalid_request` when it came more than once, or is no text that can be compared at little cost.
    func value(_ name: String) throws(OAuthError) -> String? {
        let values = parameters.all(name)
        if values.count > 1 { throw OAuthError(.invalidRequest, "\(name) is given more than once") }
        guard let value = values.first, !value.isEmpty else { return nil }
        if !value.isStreamSafe {
            throw OAuthError(.invalidRequest, "\(name) has more than 30 combining marks in a row")
        }
        return value
    }

    /// - Throws: `invalid_request` without it.
    func required(_ name: String) throws(OAuthError) -> String {
        guard let value = try value(name) else { throw OAuthError(.invalidRequest, "\(name) is missing") }
        return value
    }
}

extension Form {
    /// Without parameters when the body is in parts (RFC 7578), which no endpoint takes: what is inside one could pass for a
    /// parameter.
    init(of call: Call) {
        let isInParts = call.request.headers.first("content-type")?.mediaType.hasPrefix("multipart/") == true
        self.init(isInParts ? [] : call.body)
    }
}
