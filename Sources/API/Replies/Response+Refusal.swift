import Analytics
import HTTP

/// Refusals of the analytics surface: its shapes A, B and C (analytics §2.3).
extension Response {
    static func refusal(_ refusal: Refusal) -> Response {
        switch refusal {
        case .invalid(let text): .shapeA(.badRequest, text)
        case .rejected(let text, let reason): .json(.badRequest, ReasonReply(error: text, reason: reason))
        case .unauthorized(let text):
            .shapeA(.unauthorized, text, headers: [HeaderField("WWW-Authenticate", "Bearer")])
        case .forbidden(let text): .shapeA(.forbidden, text)
        case .notFound(let text): .shapeA(.notFound, text)
        case .conflict(let text, let reason): .json(.conflict, ReasonReply(error: text, reason: reason))
        case .gone(let text): .shapeA(.gone, text)
        case .attachment(let rejection): .shapeB(rejection)
        case .upstream(let status, let message):
            .json(
                .badGateway,
                UpstreamReply(error: "Attribution upstream error", statusCode: status, message: message))
        case .uploadFailed: .shapeA(.internalServerError, "Upload failed")
        case .temporarilyUnavailable:
            .shapeA(
                .serviceUnavailable, "Service temporarily unavailable", headers: [HeaderField("Retry-After", "1")])
        }
    }

    /// For `incomplete` the client is gone, and gets no answer.
    static func refusal(_ body: UnusableBody) -> Response {
        switch body {
        case .compressedTooLarge: .shapeA(.payloadTooLarge, "Compressed payload too large")
        case .inflatedTooLarge: .shapeC(.payloadTooLarge, "Decompressed payload too large")
        case .tooLarge: .shapeC(.payloadTooLarge, "Request body is too large")
        case .corruptGzip: .shapeC(.badRequest, "Invalid gzip body")
        case .encoding: .shapeC(.unsupportedMediaType, "Unsupported Content-Encoding")
        case .mediaType: .shapeC(.unsupportedMediaType, "Unsupported Media Type")
        case .malformedJSON:
            .shapeC(.badRequest, "Body is not valid JSON but content-type is set to 'application/json'")
        case .incomplete: .shapeC(.badRequest, "Request body is incomplete")
        }
    }

    static func shapeA(_ status: Status, _ text: String, headers: [HeaderField] = []) -> Response {
        .json(status, TextReply(error: text), headers: headers)
    }

    static func shapeC(_ status: Status, _ message: String, headers: [HeaderField] = []) -> Response {
        .json(
            status, StatusReply(statusCode: status.code, error: status.reason, message: message), headers: headers)
    }

    private static func shapeB(_ rejection: AttachmentRejection) -> Response {
        let (status, code): (Status, String) =
            switch rejection.code {
            case .invalidRequest: (.badRequest, "invalid_request")
            case .disallowedContentType: (.unsupportedMediaType, "disallowed_content_type")
            case .fileTooLarge: (.payloadTooLarge, "file_too_large")
            case .userQuotaExhausted: (.payloadTooLarge, "user_quota_exhausted")
            case .quotaExhausted: (.payloadTooLarge, "quota_exhausted")
            case .alreadyUploaded: (.conflict, "already_uploaded")
            case .tooManyBytes: (.payloadTooLarge, "size_mismatch")
            case .tooFewBytes: (.badRequest, "size_mismatch")
            case .hashMismatch: (.badRequest, "hash_mismatch")
            case .tooSlow: (.requestTimeout, "upload_too_slow")
            }
        let isUsers = rejection.code == .userQuotaExhausted
        return .json(
            status,
            RejectionReply(
                code: code, message: rejection.message, userQuotaBytes: isUsers ? rejection.quota : nil,
                userUsedBytes: isUsers ? rejection.used : nil, quotaBytes: isUsers ? nil : rejection.quota,
                usedBytes: isUsers ? nil : rejection.used))
    }
}

private struct TextReply: Encodable {
    var error: String
}

private struct ReasonReply: Encodable {
    var error: String
    var reason: String
}

private struct StatusReply: Encodable {
    var statusCode: Int
    var error: String
    var message: String

    private enum CodingKeys: String, CodingKey {
        case statusCode, error, message
    }
}

private struct UpstreamReply: Encodable {
    var error: String
    var statusCode: Int
    var message: String

    private enum CodingKeys: String, CodingKey {
        case error, statusCode, message
    }
}

private struct RejectionReply: Encodable {
    var code: String
    var message: String
    var userQuotaBytes: Int64?
    var userUsedBytes: Int64?
    var quotaBytes: Int64?
    var usedBytes: Int64?
}
