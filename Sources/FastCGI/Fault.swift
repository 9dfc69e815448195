/// Why a connection was ended in the middle of a request, without an answer.
package enum Fault: Error, Equatable, Sendable, CustomStringConvertible {
    /// The request had no begin record, or a record that is not allowed there, or the peer closed or paused too long.
    case unreadableRequest
    /// The request had the role of an authorizer or filter.
    case unsupportedRole
    /// A parameter is missing that every request has.
    case missingParameter(String)
    /// `CONTENT_LENGTH` is neither empty nor a number.
    case malformedContentLength
    /// The body ended before or after the announced length, or the peer closed or paused too long.
    case incompleteBody
    /// The peer closed, or took the answer too slowly.
    case undeliveredAnswer
    /// The answer's stream could not be read to its end, or did not have the announced length.
    case brokenAnswer

    package var description: String {
        switch self {
        case .unreadableRequest: "a connection ended within a request's parameters, or its bytes are not FastCGI"
        case .unsupportedRole: "a request for a role other than responder"
        case .missingParameter(let name): "a request without \(name): nginx must pass it (fastcgi_param)"
        case .malformedContentLength: "a request whose CONTENT_LENGTH is not a number"
        case .incompleteBody: "a connection ended within a body, or the body does not have the announced length"
        case .undeliveredAnswer: "a connection ended before the answer was delivered"
        case .brokenAnswer: "an answer's stream failed, or does not have the announced length"
        }
    }
}
