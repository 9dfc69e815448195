import Accounts
import Database
import HTTP
import JSON
import Text

/// Reads the parameters of an authorize request from its query or its JSON body.
extension AuthorizationParameters {
    /// Reads the members of a JSON body. They must be strings; `max_age` may also be a number.
    ///
    /// - Throws: `invalidRequest` if the body is not an object, or a known member has another type.
    init(_ body: JSONValue) throws {
        guard case .object(let object) = body else { throw Failure.invalidRequest }
        var values: [String: String] = [:]
        for name in Self.names + ["decision"] {
            switch object[name] {
            case nil, .null?: continue
            case .string(let text)?: values[name] = text
            case .integer(let number)? where name == "max_age": values[name] = String(number)
            default: throw Failure.invalidRequest
            }
        }
        self.init(encodedState: values["state"].map(PercentEncoding.encode)) { [values] name in
            values[name].map { [$0] } ?? []
        }
    }

    init(query: String) {
        let parameters = QueryParameters(query)
        // A value that is expensive to compare counts as empty.
        self.init(encodedState: parameters.encoded("state")) { name in
            parameters.all(name).map { $0.isStreamSafe ? $0 : "" }
        }
    }
}

extension Call {
    /// The application that an authorize request names, active or not.
    func client(of parameters: AuthorizationParameters) throws -> Application? {
        try parameters["client_id"].flatMap { clientID in try database.read { try $0.client(clientID) } }
    }

    /// A checked request, with the user whom its id_token_hint means.
    func hinted(
        _ request: AuthorizationRequest, by parameters: AuthorizationParameters
    ) throws -> AuthorizationRequest {
        guard let hint = parameters["id_token_hint"] else { return request }
        var hinted = request
        hinted.hintedSub = try database.read { try accounts.hintedSub(hint, for: request.clientID, $0) }
        // Whose sub it is may have changed on another node a moment ago.
        if hinted.hintedSub != nil { try database.catchUp() }
        return hinted
    }
}
