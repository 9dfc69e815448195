internal import JSON
internal import Text

/// The keys that an issuer publishes (RFC 7517 §5), if they can verify its tokens; immutable.
package struct KeySet: Sendable {
    package let keys: [JWK]

    /// Keys with the same key id are distinguished by their type (RFC 7517 §4.5). If keys have the same key id and
    /// type, all of them are left out, because it would be unclear which one a token means.
    package init(_ keys: [JWK]) {
        let names = keys.map { Name(keyID: Array($0.keyID.utf8), algorithm: $0.algorithm) }
        let count = Dictionary(names.map { ($0, 1) }, uniquingKeysWith: +)
        self.keys = zip(names, keys).filter { count[$0.0] == 1 }.map(\.1)
    }

    private struct Name: Hashable {
        let keyID: [UInt8]
        let algorithm: Algorithm
    }

    /// Takes the usable keys of a JWK Set and ignores others, as RFC 7517 §5 recommends. The result may be empty.
    ///
    /// - Returns: nil if the text is not a JSON object with an array `keys`.
    package init?(json: [UInt8]) {
        guard let object = try? JSONValue(json: json), let keys = object["keys"]?.array else { return nil }
        self.init(keys.compactMap(JWK.init))
    }

    /// - Parameters:
    ///   - keyID: compared byte for byte.
    ///   - algorithm: the algorithm of the key, if several have the key id; nil: any.
    package subscript(keyID: String, algorithm: Algorithm? = nil) -> JWK? {
        keys.first { $0.keyID.hasSameBytes(as: keyID) && (algorithm == nil || $0.algorithm == algorithm) }
    }
}

extension KeySet: Encodable {}
