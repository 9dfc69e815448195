import AccountReplies
import ErrorCodes
import HTTP
import JSON
import Text

/// The form of refusals on the surface that a path belongs to (accounts §0.2).
struct Surface {
    private enum Shape {
        case api
        /// The form of RFC 6749 §5.2, with a link and the request's id.
        case oauth
        /// The forms of analytics §2.3.
        case analytics
    }

    private let shape: Shape
    private let errorDocsBase: String
    private let requestID: String

    init(path: String, errorDocsBase: String, requestID: String) {
        shape =
            if Self.begins(path, with: "v1") {
                // This includes /v1 itself and paths with doubled slashes, which no route has (analytics §2.1).
                .analytics
            } else if path.utf8Span.span.starts(with: "/oauth/".utf8Span.span)
                || path.hasSameBytes(as: "/api/v1/oauth/userinfo")
            {
                .oauth
            } else {
                .api
            }
        self.errorDocsBase = errorDocsBase
        self.requestID = requestID
    }

    /// Whether a path's first segment is this one.
    private static func begins(_ path: String, with segment: String) -> Bool {
        let (path, slash) = (path.utf8Span.span, UInt8(ascii: "/"))
        var start = 0
        while start < path.count, path[start] == slash { start += 1 }
        return path.extracting(start..<path.firstIndex(of: slash, from: start)).isEqual(to: segment.utf8Span.span)
    }

    var isAnalytics: Bool { shape == .analytics }
    var isOAuth: Bool { shape == .oauth }

    /// Writes the content type as the surface requires it (analytics §2.2).
    func label(_ response: inout Response) {
        guard isAnalytics else { return }
        let json = HeaderField("Content-Type", "application/json")
        if let index = response.headers.firstIndex(of: json) {
            response.headers[index].value = "application/json; charset=utf-8"
        }
    }

    func notFound(_ request: Request) -> Response {
        isAnalytics
            ? .shapeC(.notFound, "Route \(request.method.rawValue):\(request.path) not found")
            : refusal(with: .notFound)
    }

    func methodNotAllowed(_ request: Request, allow: String) -> Response {
        let headers = [HeaderField("Allow", allow)]
        return isAnalytics
            ? .shapeC(.methodNotAllowed, "Method \(request.method.rawValue) not allowed", headers: headers)
            : refusal(with: .methodNotAllowed, headers: headers)
    }

    func refusal(with code: ErrorCode, headers: [HeaderField] = []) -> Response {
        refusal(ErrorReply(error: code), headers: headers)
    }

    /// - Parameter status: nil for the code's own status.
    func refusal(_ reply: ErrorReply, _ status: Status? = nil, headers: [HeaderField] = []) -> Response {
        let status = status ?? reply.error.status
        var response: Response =
            switch shape {
            case .api, .analytics: .json(status, reply, headers: headers)
            case .oauth:
                .json(
                    status,
                    OAuthErrorReply(
                        error: reply.error, errorDescription: reply.errorDescription ?? status.reason,
                        errorURI: "\(errorDocsBase)#\(reply.error.rawValue)", requestID: requestID),
                    headers: headers)
            }
        response.refusal = reply.error.rawValue
        return response
    }

    /// An unexpected error. The cause is logged; the answer has only the request's id, by which the log line can be
    /// found.
    func internalError() -> Response {
        switch shape {
        case .oauth: refusal(with: .internalError)
        case .api, .analytics:
            .json(ErrorCode.internalError.status, InternalErrorReply(error: .internalError, requestID: requestID))
        }
    }
}

/// `{"error":"<code>"}`, with the members that the specification names for the code.
struct ErrorReply: Encodable {
    var error: ErrorCode
    var errorDescription: String?
    var purgeAt: String?
    var swapTicket: String?
    var expiresIn: Int64?
    var fields: [String]?
    var conflicts: [UndoConflictReply]?
    var reason: String?
}

private struct OAuthErrorReply: Encodable {
    var error: ErrorCode
    var errorDescription: String
    var errorURI: String
    var requestID: String
}

private struct InternalErrorReply: Encodable {
    var error: ErrorCode
    var requestID: String
}

extension Response {
    /// A JSON answer.
    static func json(_ status: Status = .ok, _ body: some Encodable, headers: [HeaderField] = []) -> Response {
        var fields: [HeaderField] = []
        // With room for those that every answer gets.
        fields.reserveCapacity(headers.count + 4)
        fields.append(HeaderField("Content-Type", "application/json"))
        fields += headers
        return Response(status, headers: fields, body: body.json())
    }
}
