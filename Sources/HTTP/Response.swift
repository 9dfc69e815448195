/// An answer: status, header fields in order, body.
package struct Response: Sendable {
    package var status: Status
    package var headers: [HeaderField]
    package var body: [UInt8]
    /// Sent after `body`.
    package var stream: (any ResponseStream)?
    /// Whether this answers HEAD without making the body, so that nobody knows its length (RFC 9110 §9.3.2).
    package var hasUnknownLength = false
    /// The error code of a refusal, for metrics. It is not sent.
    package var refusal: String?
    /// Runs on the worker's thread once the answer has been written, or could not be: what its time must not reveal. It must
    /// return soon.
    package var afterwards: (@Sendable () -> Void)?

    /// Inlinable: a value of this size is copied if it is returned.
    @inlinable
    package init(
        _ status: Status, headers: [HeaderField] = [], body: [UInt8] = [], stream: (any ResponseStream)? = nil
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.stream = stream
    }

    /// The length of the whole body, in bytes; nil if it is unknown.
    package var length: Int? { hasUnknownLength ? nil : body.count + (stream?.length ?? 0) }

    package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}

extension Response: Equatable {
    /// A stream is equal only to itself.
    package static func == (left: Response, right: Response) -> Bool {
        left.status == right.status && left.headers == right.headers && left.body == right.body
            && left.stream === right.stream
    }
}

/// A body that is too large for memory. It is read once, while it is sent.
package protocol ResponseStream: AnyObject, Sendable {
    /// The length of all parts together, in bytes.
    var length: Int { get }

    /// The next part, at most `count` bytes; empty exactly at the end.
    func read(atMost count: Int) throws -> [UInt8]
}

/// A status code (RFC 9110 §15) with its reason phrase.
package struct Status: Hashable, Sendable {
    package let code: Int

    package init(_ code: Int) { self.code = code }

    package static let ok = Status(200)
    package static let created = Status(201)
    package static let accepted = Status(202)
    package static let noContent = Status(204)
    package static let found = Status(302)
    package static let seeOther = Status(303)
    package static let badRequest = Status(400)
    package static let unauthorized = Status(401)
    package static let forbidden = Status(403)
    package static let notFound = Status(404)
    package static let methodNotAllowed = Status(405)
    package static let requestTimeout = Status(408)
    package static let conflict = Status(409)
    package static let gone = Status(410)
    package static let preconditionFailed = Status(412)
    package static let payloadTooLarge = Status(413)
    package static let unsupportedMediaType = Status(415)
    package static let misdirectedRequest = Status(421)
    package static let unprocessableContent = Status(422)
    package static let tooManyRequests = Status(429)
    package static let internalServerError = Status(500)
    package static let badGateway = Status(502)
    package static let serviceUnavailable = Status(503)
    package static let gatewayTimeout = Status(504)

    package var isSuccess: Bool { (200..<300).contains(code) }

    package var reason: String {
        switch code {
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 204: "No Content"
        case 302: "Found"
        case 303: "See Other"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 410: "Gone"
        case 412: "Precondition Failed"
        case 413: "Payload Too Large"
        case 415: "Unsupported Media Type"
        case 421: "Misdirected Request"
        case 422: "Unprocessable Content"
        case 429: "Too Many Requests"
        case 500: "Internal Server Error"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        default: ""
        }
    }
}
