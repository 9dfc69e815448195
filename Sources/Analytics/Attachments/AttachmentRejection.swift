/// Why a reservation or an upload is refused (analytics §11.1, §11.2), with its code and message.
package struct AttachmentRejection: Error, Equatable {
    package enum Code: Sendable {
        case invalidRequest
        case disallowedContentType
        case fileTooLarge
        case userQuotaExhausted
        case quotaExhausted
        case alreadyUploaded
        /// More bytes than declared.
        case tooManyBytes
        /// Fewer bytes than declared.
        case tooFewBytes
        case hashMismatch
        /// The bytes came too slowly.
        case tooSlow
    }

    package let code: Code
    package let message: String
    /// The quota and the part of it in use, in bytes.
    package var quota: Int64?
    package var used: Int64?

    package init(_ code: Code, _ message: String, quota: Int64? = nil, used: Int64? = nil) {
        self.code = code
        self.message = message
        self.quota = quota
        self.used = used
    }
}
