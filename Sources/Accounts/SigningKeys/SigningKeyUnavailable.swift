/// Why nothing can be signed, in words for the operator.
package struct SigningKeyUnavailable: Error, Equatable, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }

    static let none = SigningKeyUnavailable(
        "there is no active signing key; run: merganserctl signing-key generate, then merganserctl signing-key activate"
    )
}
