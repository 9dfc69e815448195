internal import JSON
package import OpenSSL
internal import Text

/// Makes signed tokens in the compact form, with a key and its published key id.
package struct Signer: Sendable {
    package let keyID: String
    private let key: PrivateKey

    package init(keyID: String, key: PrivateKey) {
        self.keyID = keyID
        self.key = key
    }

    package var jwk: JWK { JWK(keyID: keyID, key: key.publicKey) }

    private struct Header: Encodable {
        var alg: String
        var kid: String
        var typ: String
    }

    /// - Parameter type: the header's `typ`: `JWT`, `at+jwt` and so on.
    package func sign(_ claims: some Encodable, type: String = "JWT") throws(OpenSSLError) -> String {
        try sign(
            header: Header(alg: Algorithm(key.kind).rawValue, kid: keyID, typ: type), payload: claims.json())
    }

    /// The compact form of any header and payload; their content is not checked.
    package func sign(header: some Encodable, payload: [UInt8]) throws(OpenSSLError) -> String {
        let input = Base64URL.encode(header.json()) + "." + Base64URL.encode(payload)
        return input + "." + Base64URL.encode(try key.sign(Array(input.utf8)))
    }
}
