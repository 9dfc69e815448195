import JOSE
import JSON
import OpenSSL
import TestSupport
import Testing
import Text

@Suite struct KeySetTests {
    private func keySet(_ keys: [[String: JSONValue]]) throws -> KeySet {
        try #require(KeySet(json: ["keys": keys].json()))
    }

    private static let rsa: [String: JSONValue] = [
        "kty": "RSA", "kid": "a", "n": .string(RFC7515.rsaModulus), "e": "AQAB",
    ]
    private static let ec: [String: JSONValue] = [
        "kty": "EC", "kid": "a", "crv": "P-256", "x": .string(RFC7515.x), "y": .string(RFC7515.y),
    ]

    private func isUsable(_ key: [String: JSONValue], _ changes: [String: JSONValue?]) throws -> Bool {
        var key = key
        for (name, value) in changes { key[name] = value }
        return try !keySet([key]).keys.isEmpty
    }

    @Test func exampleOfRFC7517() throws {
        let keySet = try #require(KeySet(json: Array(RFC7520.keySet7517.utf8)))
        #expect(keySet.keys.map(\.keyID) == ["2011-04-29"])
        #expect(keySet["2011-04-29"]?.algorithm == .rs256)
        #expect(keySet["1"] == nil)
    }

    @Test func exampleOfRFC7520() throws {
        let keySet = try #require(KeySet(json: Array(RFC7520.keySet.utf8)))
        #expect(keySet.keys.map(\.key.kind) == [.rsa(bits: 2048)])
    }

    @Test(arguments: ["", "{}", "[]", "null", "{\"keys\":{}}", "{\"keys\":null}", "{\"keys\":[]}x", "<html>"])
    func textWithoutKeysIsNoKeySet(text: String) { #expect(KeySet(json: Array(text.utf8)) == nil) }

    @Test(arguments: ["[]", "[1,null,\"a\",[],{}]"])
    func setMayHaveNoUsableKey(keys: String) {
        #expect(KeySet(json: Array("{\"keys\":\(keys),\"more\":1}".utf8))?.keys.isEmpty == true)
    }

    @Test(
        arguments: [
            [:], ["use": "sig"], ["alg": "RS256"], ["key_ops": ["verify"]], ["key_ops": ["sign", "verify"]], ["x": 1],
            ["kid": ""], ["e": "AAEAAQ"], ["e": "Aw"],
        ] as [[String: JSONValue?]])
    func keyForVerifyingIsUsable(changes: [String: JSONValue?]) throws { #expect(try isUsable(Self.rsa, changes)) }

    /// RFC 7518 §6.3.1.1 forbids the leading zero byte, and warns that some implementations write it.
    @Test func zeroBeforeTheModulusIsNoMatter() throws {
        let modulus = try #require(Base64URL.decode(RFC7515.rsaModulus))
        #expect(try isUsable(Self.rsa, ["n": .string(Base64URL.encode([0] + modulus))]))
    }

    @Test(
        arguments: [
            ["kid": nil], ["kid": 1], ["kid": .null], ["kty": nil], ["kty": "oct"], ["kty": "OKP"], ["kty": "rsa"],
            ["kty": 1],
            ["use": "enc"], ["use": 1], ["use": .null], ["key_ops": []], ["key_ops": ["encrypt"]],
            ["key_ops": "verify"],
            ["alg": "RS512"], ["alg": "PS256"], ["alg": "ES256"], ["alg": "HS256"], ["alg": "none"], ["alg": 1],
            ["n": nil], ["n": ""], ["n": "AQAB"], ["n": "A"], ["n": 1], ["n": "oQ=="], ["e": nil], ["e": ""],
            ["e": "AQ"],
            ["e": "AA"], ["e": "Ag"], ["e": "AQABAQABAQABAQAB"], ["e": 65537],
        ] as [[String: JSONValue?]])
    func otherRSAKeysAreLeftOut(changes: [String: JSONValue?]) throws {
        #expect(try !isUsable(Self.rsa, changes))
        #expect(try keySet([Self.rsa.merging(["kid": "b"]) { $1 }, Self.rsa]).keys.count == 2)
    }

    @Test func rsaKeysAreLimitedInSize() throws {
        func modulus(_ bits: Int) -> JSONValue {
            // Odd, with the highest of `bits` bits set.
            var bytes = [UInt8](repeating: 0xFF, count: (bits + 7) / 8)
            bytes[0] = UInt8(truncatingIfNeeded: 0xFF >> ((8 - bits % 8) % 8))
            return .string(Base64URL.encode(bytes))
        }
        #expect(try !isUsable(Self.rsa, ["n": modulus(1024)]))
        #expect(try !isUsable(Self.rsa, ["n": modulus(2047)]))
        #expect(try isUsable(Self.rsa, ["n": modulus(2048)]))
        #expect(try isUsable(Self.rsa, ["n": modulus(8192)]))
        #expect(try !isUsable(Self.rsa, ["n": modulus(8193)]))
        #expect(try !isUsable(Self.rsa, ["n": modulus(16_384)]))
    }

    @Test(
        arguments: [
            ["crv": nil], ["crv": "P-384"], ["crv": "secp256k1"], ["crv": "p-256"], ["alg": "RS256"], ["alg": "ES384"],
            ["x": nil], ["y": nil], ["x": .string(RFC7515.y)], ["y": .string(RFC7515.x)], ["x": ""], ["x": "AA"],
            ["x": .string("AA" + RFC7515.x)],
            ["x": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "y": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"],
            ["x": "__________________________________________8", "y": "__________________________________________8"],
        ] as [[String: JSONValue?]])
    func otherEllipticCurveKeysAreLeftOut(changes: [String: JSONValue?]) throws {
        #expect(try isUsable(Self.ec, ["alg": "ES256", "use": "sig"]))
        #expect(try !isUsable(Self.ec, changes))
    }

    @Test func keysThatShareANameAreToldApartByTheirType() throws {
        let keySet = try keySet([Self.rsa, Self.ec])
        #expect(keySet["a", .rs256]?.key.kind == .rsa(bits: 2048))
        #expect(keySet["a", .es256]?.key.kind == .p256)
        #expect(keySet["b", .rs256] == nil)
    }

    @Test func keysThatShareNameAndTypeAreLeftOut() throws {
        let other = Self.rsa.merging(["kid": "b"]) { $1 }
        #expect(try keySet([Self.rsa, other, Self.rsa]).keys.map(\.keyID) == ["b"])
        #expect(try keySet([Self.rsa, Self.ec, Self.rsa]).keys.map(\.key.kind) == [.p256])
        #expect(try keySet([Self.rsa, Self.rsa]).keys.isEmpty)
        // One that cannot verify takes no name away.
        let forEncryption = Self.rsa.merging(["use": "enc"]) { $1 }
        #expect(try keySet([Self.ec, forEncryption]).keys.map(\.key.kind) == [.p256])
    }

    @Test func publishedKeySetHasNoPrivateMembers() throws {
        let keySet = KeySet([TestIssuer.rsa.jwk, TestIssuer.p256.jwk])
        guard case .array(let keys)? = try JSONValue(json: keySet.json())["keys"] else {
            Issue.record("no keys")
            return
        }
        let names = keys.map { key -> [String] in
            if case .object(let object) = key { return object.members.map(\.name) }
            return []
        }
        #expect(
            names == [["kty", "use", "alg", "kid", "n", "e"], ["kty", "use", "alg", "kid", "crv", "x", "y"]])
        let read = try #require(KeySet(json: keySet.json()))
        #expect(read.keys.map(\.key.components) == keySet.keys.map(\.key.components))
    }
}
