package import JSON
internal import Text

/// What a client announces before it sends a file (analytics §11.1).
package struct AttachmentReservation: Sendable {
    var clientEventID: UUID
    var user: EndUserID?
    var filename: String
    var contentType: String
    var size: Int64
    var digest: ContentDigest
    var isDev: Bool

    /// Checks 2 to 8 of §11.1.
    package init(_ body: JSONObject) throws(Refusal) {
        guard let event = body["client_event_id"]?.string, !event.isEmpty else {
            throw .invalidAttachment("client_event_id is required")
        }
        guard let clientEventID = UUID(event) else { throw .invalidAttachment("client_event_id must be a UUID") }
        self.clientEventID = clientEventID
        user = try AttachmentReservation.user(body["user_id"])

        guard let filename = body["original_filename"]?.string, !filename.isEmpty, !filename.isLonger(than: 255) else {
            throw .invalidAttachment("original_filename is required and must be at most 255 chars")
        }
        try filename.checkForNUL(field: "original_filename")
        self.filename = filename

        guard let contentType = body["content_type"]?.string, !contentType.isEmpty else {
            throw .invalidAttachment("content_type is required")
        }
        if contentType.isLonger(than: 128) { throw .invalidAttachment("content_type must be at most 128 chars") }
        try contentType.checkForNUL(field: "content_type")
        self.contentType = contentType
        let mediaType = contentType.mediaType
        if deniedTypes.contains(mediaType) {
            throw .attachment(
                AttachmentRejection(
                    .disallowedContentType, "Content-Type \"\(mediaType)\" is not allowed for attachments"))
        }

        guard let size = body["size_bytes"]?.size, size > 0 else {
            throw .invalidAttachment("size_bytes must be a positive integer")
        }
        self.size = size
        guard let digest = body["sha256"]?.string.flatMap(ContentDigest.init(rawValue:)) else {
            throw .invalidAttachment("sha256 must be a 64-char lowercase hex string")
        }
        self.digest = digest
        isDev = body["is_dev"] == true
    }

    private static func user(_ value: JSONValue?) throws(Refusal) -> EndUserID? {
        switch value {
        case nil, .null: return nil
        case .string(let id) where !id.isEmpty && !id.isLonger(than: EndUserID.maximumLength):
            try id.checkForNUL(field: "user_id")
            return EndUserID(rawValue: id)
        default: throw .invalidAttachment("user_id must be a non-empty string of at most 255 chars")
        }
    }
}

extension Refusal {
    fileprivate static func invalidAttachment(_ message: String) -> Refusal {
        .attachment(AttachmentRejection(.invalidRequest, message))
    }
}

extension JSONValue {
    /// An integer. A number too large for `Int64` becomes the largest `Int64`.
    fileprivate var size: Int64? {
        switch self {
        case .integer(let value): value
        case .number(let value) where value == value.rounded(): Int64(exactly: value) ?? (value < 0 ? .min : .max)
        default: nil
        }
    }
}

/// File types that an operating system may execute.
private let deniedTypes: Set<String> = [
    "application/x-msdownload", "application/x-msdos-program", "application/x-msi", "application/x-executable",
    "application/x-mach-binary", "application/x-sharedlib", "application/vnd.microsoft.portable-executable",
    "application/x-dosexec", "application/x-shellscript", "application/x-sh", "application/x-python-code",
    "application/java-archive", "application/x-java-archive", "application/vnd.apple.installer+xml",
    "text/x-shellscript",
]
