package import JSON
import Text

extension Subject {
    /// The answer of the userinfo endpoint (accounts §2.8, §2.9).
    package func userInfo(_ scopes: Scopes) -> JSONValue {
        var claims: Members = []
        claims.reserveCapacity(16)
        claims.append(("sub", .string(sub)))
        func add(_ name: String, _ value: String?) {
            if !value.isBlank, let value { claims.append((name, .string(value))) }
        }
        if scopes.contains("profile:basic") {
            add("preferred_name", nickname.isBlank ? name : nickname)
            add("full_name", name)
        }
        if scopes.contains("phone") { add("phone_number", phoneNumber) }
        if scopes.contains("address") {
            add("address", address)
            add("postal_code", postalCode)
        }
        if scopes.contains("identity:level") { claims.append(("identity_verified_level", .integer(verifiedLevel))) }
        appendScopedClaims(scopes, to: &claims)
        appendIdentityClaims(to: &claims)
        return .object(JSONObject(claims))
    }
}
