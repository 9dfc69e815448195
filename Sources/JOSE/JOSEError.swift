/// Why a token's signature is not valid.
package enum JOSEError: Error, Equatable, Sendable {
    /// The token is not the compact form of a signed JSON object, is too long, or has extensions that must be
    /// understood (`crit`).
    case malformed
    /// The header's `alg` is not supported, or is not the algorithm of the key that the header names.
    case unsupportedAlgorithm
    /// There is no `kid`, or the key set does not have it.
    case unknownKey
    case badSignature
}
