import Accounts
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
