/// Why a token's signature does not stand.
package enum JOSEError: Error, Equatable, Sendable {
    /// Not the compact form of a signed JSON object, too long, or with extensions that must be understood (`crit`).
    case malformed
    /// The header's `alg` is none that is spoken, or not the one of the key it names.
    case unsupportedAlgorithm
    /// No `kid`, or none that the key set has.
    case unknownKey
    case badSignature
}
