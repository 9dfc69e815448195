import API
import ErrorCodes
import HTTP
import JSON
import Testing

/// Sends requests through a doorway.
final class Client {
    private let respond: (Request) -> Response

    /// - Parameter respond: brings a request to a server, and its answer back.
    init(_ respond: @escaping (Request) -> Response) { self.respond = respond }

    /// To a responder in process, as nginx would.
    convenience init(_ responder: Responder) {
        self.init { request in
            let response = responder.respond(to: request)
            response.afterwards?()
            return response
        }
    }

    /// From 192.0.2.7.
    ///
    /// - Parameters:
    ///   - path: with a query string, if it has one.
    ///   - body: JSON, or nothing at all when nil.
    ///   - headers: names in lower case.
    func send(
        _ method: Method, _ path: String, _ body: JSONValue? = nil, token: String? = nil,
        headers: [(name: String, value: String)] = [], requestID: String? = nil
    ) -> Answer {
        let contentType = body == nil ? [] : [(name: "content-type", value: "application/json")]
        return send(
            method, path, bytes: body?.json() ?? [], token: token, headers: contentType + headers, requestID: requestID)
    }

    func send(
        _ method: Method, _ path: String, bytes: [UInt8], token: String? = nil,
        headers: [(name: String, value: String)] = [], requestID: String? = nil
    ) -> Answer {
        let target = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let authorization = token.map { [(name: "authorization", value: "Bearer \($0)")] } ?? []
        return send(
            Request(
                method: method, path: target[0], query: target.count > 1 ? target[1] : "",
                headers: Headers(authorization + headers), remoteAddress: "192.0.2.7", requestID: requestID,
                body: BufferedBody(bytes)))
    }

    func send(_ request: Request) -> Answer {
        let answer = Answer(respond(request))
        answer.checkErrorCode(path: request.path)
        return answer
    }
}

struct Answer: CustomStringConvertible {
    let response: Response

    init(_ response: Response) { self.response = response }

    var status: Int { response.status.code }
    var text: String { String(decoding: response.body, as: UTF8.self) }
    var json: JSONValue { (try? JSONValue(json: response.body)) ?? .null }
    var error: String? { json["error"]?.string }

    subscript(name: String) -> JSONValue? { json[name] }
    /// The first field of that name, in any case: nginx sends names as they are, the tests' client gives them in lower case.
    func header(_ name: String) -> String? {
        response.headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// The status and the body, by which tests compare refusals.
    var description: String { text.isEmpty ? "\(status)" : "\(status) \(text)" }
}

extension Answer {
    /// The answer with its whole body, if that is sent in pieces.
    func received() throws -> Answer {
        var response = response
        while let part = try response.stream?.read(atMost: 65_536), !part.isEmpty { response.body += part }
        return Answer(response)
    }

    /// Checks every answer: a code in the body or in a redirect must be in the list, with this status. Under `/v1`,
    /// errors are texts.
    fileprivate func checkErrorCode(path: String) {
        guard !path.hasPrefix("/v1"), let error = text.hasPrefix(#"{"error":"#) ? self.error : redirectedError else {
            return
        }
        let statuses = ErrorCode(rawValue: error)?.statuses ?? []
        #expect(statuses.contains(response.status), "\(error) with \(status) at \(path)")
    }

    /// The code that a redirect takes to another site.
    private var redirectedError: String? {
        guard let location = header("Location"), !location.hasPrefix("/") else { return nil }
        return QueryParameters(String(location.drop { $0 != "?" }.dropFirst()))["error"]
    }
}

/// A refusal as `Answer.description` writes it.
func refusal(_ status: Int, _ error: String) -> String { #"\#(status) {"error":"\#(error)"}"# }

/// The refusal of an identity token.
func invalidIdentityToken(_ reason: String) -> String {
    #"422 {"error":"invalid_identity_token","error_description":"\#(reason)"}"#
}
