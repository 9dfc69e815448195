internal import CCurl

/// Why a message was not taken. It names neither a recipient nor what the message says.
package struct MailError: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Reason: Sendable {
        /// The server refused the sender, the recipient, the message or the login.
        case refused
        case timeout
        /// Name resolution, connection, TLS or protocol failed, or the spool file cannot be written.
        case failed
    }

    package let reason: Reason
    package let description: String

    init(_ reason: Reason, _ description: String) {
        self.reason = reason
        self.description = description
    }

    /// - Parameters:
    ///   - detail: the content of libcurl's error buffer; may be empty. It has codes of the server's answers, and no texts.
    ///   - status: the server's last reply code; 0 if there was none.
    init(_ code: CURLcode, detail: String = "", status: Int = 0) {
        switch code {
        case CURLE_OPERATION_TIMEDOUT: reason = .timeout
        case CURLE_LOGIN_DENIED, CURLE_REMOTE_ACCESS_DENIED: reason = .refused
        // Also what libcurl makes of a server's word against sender, recipient or message.
        case CURLE_SEND_ERROR, CURLE_WEIRD_SERVER_REPLY:
            reason = (400...599).contains(status) ? .refused : .failed
        default: reason = .failed
        }
        let text = detail.isEmpty ? String(cString: curl_easy_strerror(code)) : detail
        description = reason == .refused && status > 0 ? "\(text) (the server's last reply: \(status))" : text
    }
}
