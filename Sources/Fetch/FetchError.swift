internal import CCurl

/// Why a request got no answer.
package struct FetchError: Error, Equatable, Sendable {
    package enum Reason: Sendable {
        /// The URL is malformed or not allowed; nothing was sent.
        case refused
        /// The host has an address that nothing may be sent to (accounts §3.5); nothing was sent.
        case forbidden
        /// The host has no address, or the resolver took too long.
        case unresolved
        case timeout
        /// The answer's body is larger than `maximumSize`, or its header is larger than 64 KiB.
        case tooLarge
        /// Connection, TLS or protocol failed.
        case failed
    }

    package let reason: Reason
    /// libcurl's code; 0 if libcurl was not called.
    package let code: Int
    package let message: String

    init(_ reason: Reason, _ message: String) {
        self.reason = reason
        self.message = message
        code = 0
    }

    /// - Parameter detail: the content of libcurl's error buffer; may be empty.
    init(_ code: CURLcode, detail: String = "") {
        reason =
            switch code {
            case CURLE_OPERATION_TIMEDOUT: .timeout
            case CURLE_COULDNT_RESOLVE_HOST: .unresolved
            case CURLE_FILESIZE_EXCEEDED: .tooLarge
            default: .failed
            }
        self.code = Int(code.rawValue)
        message = detail.isEmpty ? String(cString: curl_easy_strerror(code)) : detail
    }
}

extension FetchError: CustomStringConvertible {
    package var description: String { message }
}
