package import JSON

/// A token's claims (RFC 7519 §4). A claim is nil if it is absent, or if its type is not the RFC's.
package struct Claims: Equatable, Sendable {
    private let members: JSONObject

    package init(_ members: JSONObject) { self.members = members }

    package subscript(name: String) -> JSONValue? { members[name] }

    package func string(_ name: String) -> String? { members[name]?.string }

    /// `iss`
    package var issuer: String? { string("iss") }
    /// `sub`
    package var subject: String? { string("sub") }
    /// `aud`: a string, or an array that has only strings.
    package var audience: [String]? {
        switch members["aud"] {
        case .string(let value): return [value]
        case .array(let values):
            let names = values.compactMap(\.string)
            return names.count == values.count ? names : nil
        default: return nil
        }
    }
    /// `azp`
    package var authorizedParty: String? { string("azp") }

    /// A NumericDate: seconds since 1970-01-01T00:00:00Z, with or without a fraction.
    package func numericDate(_ name: String) -> Double? {
        switch members[name] {
        case .integer(let value): Double(value)
        case .number(let value) where value.isFinite: value
        default: nil
        }
    }
}
