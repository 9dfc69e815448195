/// An identity token that is not believed.
package struct InvalidIdentityToken: Error, Equatable, Sendable {
    /// The first check that failed, in the order of accounts §1.5. The raw value is the answer's `error_description`.
    ///
    /// A claim of the wrong type fails its own check: an `exp` that is absent or no number is `expired`, an `iat` or `nbf`
    /// of that kind `not yet valid`.
    package enum Reason: String, CaseIterable, Sendable {
        case malformedToken = "malformed token"
        case unsupportedAlgorithm = "unsupported alg"
        case unknownKey = "unknown key"
        case badSignature = "bad signature"
        case wrongIssuer = "wrong issuer"
        case wrongAudience = "wrong audience"
        case expired = "expired"
        case notYetValid = "not yet valid"
        case nonceMismatch = "nonce mismatch"
        case missingSubject = "missing sub"
    }

    package let reason: Reason

    package init(_ reason: Reason) { self.reason = reason }
}
