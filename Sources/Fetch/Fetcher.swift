internal import CCurl

// This target owns outgoing HTTP over libcurl: deadlines, size caps, verified TLS, and which URLs and addresses may be
// asked. It does not own retries, caching or what an answer means, and it never follows a redirect.

/// Makes requests; blocks the calling thread for `Options.timeout` at most. A value that threads may share.
package struct Fetcher: Sendable {
    package struct Options: Sendable {
        /// Until a connection stands, name resolution and TLS included.
        package var connectTimeout: Duration = .seconds(5)
        /// For everything together.
        package var timeout: Duration = .seconds(5)
        /// The largest body that is received, in bytes.
        package var maximumSize = 1 << 20
        /// Whether a larger body is cut there, instead of being an error.
        package var cutsBody = false
        /// Certificates to trust, a PEM file, in place of the system's.
        package var certificateAuthorities: String?
        /// Whether plain http is allowed to `localhost`, `127.0.0.1` and `[::1]`; otherwise only https is.
        package var allowsLoopbackHTTP = false
        package var userAgent = "merganser"

        package init() {}
    }

    package struct Response: Sendable {
        package var status: Int
        /// In the order they came; names in lower case.
        package var headers: [(name: String, value: String)]
        package var body: [UInt8]

        /// - Parameter name: in lower case.
        package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
    }

    private let options: Options

    package init(_ options: Options = Options()) { self.options = options }

    /// - Returns: the answer, whatever its status; a redirect too.
    package func get(_ url: String, headers: [(String, String)] = []) throws(FetchError) -> Response {
        try Transfer(url, headers, options).perform()
    }

    /// - Returns: the answer, whatever its status; a redirect too.
    package func post(
        _ url: String, headers: [(String, String)] = [], body: [UInt8]
    ) throws(FetchError) -> Response {
        let transfer = try Transfer(url, headers, options)
        try transfer.setBody(body)
        return try transfer.perform()
    }
}
