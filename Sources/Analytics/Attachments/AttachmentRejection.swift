/// Why a reservation or an upload is refused (analytics §11.1, §11.2), with its code and message.
package struct AttachmentRejection: Error, Equatable {
    package enum Code: String, Sendable {
        case invalidRequest = "invalid_request"
        case disallowedContentType = "disallowed_content_type"
        case fileTooLarge = "file_too_large"
        case userQuotaExhausted = "user_quota_exhausted"
        case quotaExhausted = "quota_exhausted"
        case alreadyUploaded = "already_uploaded"
        /// More bytes than declared.
        case tooManyBytes = "size_mismatch (more)"
        /// Fewer.
        case tooFewBytes = "size_mismatch (fewer)"
        case hashMismatch = "hash_mismatch"
    }

    package let code: Code
    package let message: String
    /// A quota and how much of it is used, in bytes.
    package var quota: Int64?
    package var used: Int64?

    package init(_ code: Code, _ message: String, quota: Int64? = nil, used: Int64? = nil) {
        self.code = code
        self.message = message
        self.quota = quota
        self.used = used
    }
}
