/// Why an identity token was refused.
package struct InvalidIdentityToken: Error, Equatable, Sendable {
    /// The first check that failed, in the order of accounts §1.5. The raw value is the answer's `error_description`.
    ///
    /// A claim of the wrong type fails its own check: if `exp` is absent or not a number, the failure is `expired`; for
    /// `iat` and `nbf` it is `not yet valid`.
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
