internal import JSON

/// The keys an issuer publishes (RFC 7517 §5), as far as they can verify its tokens; immutable.
package struct KeySet: Sendable {
    package let keys: [JWK]

    /// Keys that share a name are told apart by their type (RFC 7517 §4.5). Those that share both are left out, all of
    /// them: which one a token means could not be told.
    package init(_ keys: [JWK]) {
        let names = keys.map { Name(keyID: Array($0.keyID.utf8), algorithm: $0.algorithm) }
        let count = Dictionary(names.map { ($0, 1) }, uniquingKeysWith: +)
        self.keys = zip(names, keys).filter { count[$0.0] == 1 }.map(\.1)
    }

    private struct Name: Hashable {
        let keyID: [UInt8]
        let algorithm: Algorithm
    }

    /// Takes the usable keys of a JWK Set and leaves others out, as RFC 7517 §5 asks; there may be none.
    ///
    /// - Returns: nil when the text is no JSON object with an array `keys`.
    package init?(json: [UInt8]) {
        guard let object = try? JSONValue(json: json), let keys = object["keys"]?.array else { return nil }
        self.init(keys.compactMap(JWK.init))
    }

    /// - Parameters:
    ///   - keyID: compared byte for byte.
    ///   - algorithm: which of several keys of that name is meant; nil: any.
    package subscript(keyID: String, algorithm: Algorithm? = nil) -> JWK? {
        keys.first { $0.keyID.utf8.elementsEqual(keyID.utf8) && (algorithm == nil || $0.algorithm == algorithm) }
    }
}

extension KeySet: Encodable {}
