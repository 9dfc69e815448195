/// One request as nginx passed it on, whatever the transport.
///
/// This target owns the values that make up a request and its answer. It does no I/O and knows no routes.
package struct Request {
    package var method: Method
    /// The decoded and normalised path that nginx's locations matched (`DOCUMENT_URI`); never the raw request line.
    package var path: String
    /// The query string as sent, without `?`, with bytes beyond ASCII percent-encoded; empty if there is none.
    package var query: String
    /// Path and query as the client wrote them (`REQUEST_URI`), for what the client has signed. Nothing is routed by it.
    package var target: String
    package var headers: Headers
    /// The client's address as nginx sees it (`REMOTE_ADDR`).
    package var remoteAddress: String
    /// nginx's `$request_id`; nil if the parameter is missing or empty.
    package var requestID: String?
    /// How long it waited for a worker since nginx passed it on; zero if nginx does not say when that was.
    package var waited: Duration
    package var body: any RequestBody

    /// Inlinable: a value of this size is copied if it is returned.
    ///
    /// - Parameter target: nil if it is the path and the query as they are.
    @inlinable
    package init(
        method: Method, path: String, query: String = "", target: String? = nil, headers: Headers = Headers(),
        remoteAddress: String = "",
        requestID: String? = nil, waited: Duration = .zero, body: any RequestBody = BufferedBody([])
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.target = target ?? (query.isEmpty ? path : "\(path)?\(query)")
        self.headers = headers
        self.remoteAddress = remoteAddress
        self.requestID = requestID
        self.waited = waited
        self.body = body
    }
}

/// A request method (RFC 9110 §9.1). Methods are case-sensitive.
package struct Method: RawRepresentable, Hashable, Sendable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let get = Method(rawValue: "GET")
    package static let head = Method(rawValue: "HEAD")
    package static let post = Method(rawValue: "POST")
    package static let put = Method(rawValue: "PUT")
    package static let patch = Method(rawValue: "PATCH")
    package static let delete = Method(rawValue: "DELETE")
    package static let options = Method(rawValue: "OPTIONS")
}
