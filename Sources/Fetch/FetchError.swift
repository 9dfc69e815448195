internal import CCurl

/// A request without an answer.
package struct FetchError: Error, Equatable, Sendable {
    package enum Reason: Sendable {
        /// The URL is malformed, or not one of those that may be asked; nothing was sent.
        case refused
        case timeout
        /// The answer is larger than `maximumSize`, or its header is larger than 64 KiB.
        case tooLarge
        /// Resolution, connection, TLS or protocol.
        case failed
    }

    package let reason: Reason
    /// libcurl's code; 0 when it was not asked.
    package let code: Int
    package let message: String

    init(_ reason: Reason, _ message: String) {
        self.reason = reason
        self.message = message
        code = 0
    }

    /// - Parameter detail: what libcurl wrote into the error buffer; may be empty.
    init(_ code: CURLcode, detail: String = "") {
        reason =
            switch code {
            case CURLE_OPERATION_TIMEDOUT: .timeout
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
