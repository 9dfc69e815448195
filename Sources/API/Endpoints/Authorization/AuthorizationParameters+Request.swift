import Accounts
import HTTP
import JSON
import Text

/// The parameters of an authorize request as its query or its body has them.
extension AuthorizationParameters {
    /// The members of a JSON body: strings, and `max_age` also as a number.
    ///
    /// - Throws: `invalidRequest` for what is no object, or a known member of another type.
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
        // One that takes long to compare is as good as none.
        self.init(encodedState: parameters.encoded("state")) { name in
            parameters.all(name).map { $0.isStreamSafe ? $0 : "" }
        }
    }
}
