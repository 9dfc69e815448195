internal import CCurl

// This target owns outgoing HTTP over libcurl: deadlines, limits of size, verified TLS, and the rules for URLs and
// addresses that requests may be sent to. It does not own retries, caching or the meaning of answers, and it never
// follows a redirect.

/// Makes requests; blocks the calling thread for at most `Options.timeout`. Threads may share a value.
package struct Fetcher: Sendable {
    package struct Options: Sendable {
        /// The time until a connection is made, including name resolution and TLS.
        package var connectTimeout: Duration = .seconds(5)
        /// The time for the whole request.
        package var timeout: Duration = .seconds(5)
        /// The largest body that is received, in bytes.
        package var maximumSize = 1 << 20
        /// Whether a larger body is truncated; otherwise it is an error.
        package var cutsBody = false
        /// A PEM file of certificates to trust instead of the system's.
        package var certificateAuthorities: String?
        /// Whether plain http is allowed to `localhost`, `127.0.0.1` and `[::1]`; otherwise only https is.
        package var allowsLoopbackHTTP = false
        package var userAgent = "merganser"

        package init() {}
    }

    package struct Response: Sendable {
        package var status: Int
        /// In the order in which they came; names are in lower case.
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
