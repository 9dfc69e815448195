import JOSE
import JSON
import OpenSSL

extension Fuzzer {
    /// Any bytes as a JWK Set. If the input does not begin with `{`, it is the numbers of a key, and is tried as an RSA
    /// key and as a P-256 key.
    static let keySet = Fuzzer(name: "jwk", maximumSize: 8192) { input in
        if input.first == UInt8(ascii: "{") {
            if let keySet = KeySet(json: input) { try check(keySet) }
        } else {
            try checkNumbers(input)
        }
    }

    private static func check(_ keySet: KeySet) throws {
        for key in keySet.keys {
            let namesakes = keySet.keys.filter {
                $0.keyID.isIdentical(to: key.keyID) && $0.algorithm == key.algorithm
            }
            try require(namesakes.count == 1, "a name stands for one key of each type")
            try require(
                keySet[key.keyID, key.algorithm]?.key.components == key.key.components, "every key is found")
            try check(key)
        }
        guard let again = KeySet(json: keySet.json()) else { throw Violation("a key set is read again") }
        try require(
            again.keys.map(\.key.components) == keySet.keys.map(\.key.components)
                && zip(again.keys, keySet.keys).allSatisfy { $0.keyID.isIdentical(to: $1.keyID) },
            "what is published is read as the same keys")
        try require(again.json() == keySet.json(), "publishing is stable")
    }

    private static func check(_ key: JWK) throws {
        switch key.key.components {
        case .rsa(let modulus, let exponent):
            let bits = modulus.count * 8 - (modulus.first?.leadingZeroBitCount ?? 0)
            try require(
                key.key.kind == .rsa(bits: bits) && (2048...8192).contains(bits), "RSA keys have 2048 to 8192 bit")
            try require(modulus.last.map { $0 & 1 } == 1, "a modulus is odd")
            try require(
                exponent != [1] && exponent.count <= 8 && exponent.last.map { $0 & 1 } == 1,
                "an exponent is odd, at least 3 and short")
        case .p256(let x, let y):
            try require(key.key.kind == .p256 && x.count == 32 && y.count == 32, "coordinates have 32 bytes")
        }
        for size in [0, 1, 63, 64, 65, 255, 256, 257, 1024] {
            let signature = [UInt8](repeating: 0x5A, count: size)
            try require(
                !key.key.verifyRS256(signature, of: []) && !key.key.verifyES256(signature, of: []),
                "what nobody signed does not verify")
        }
    }

    /// The first byte is the exponent's size.
    private static func checkNumbers(_ input: [UInt8]) throws {
        let exponent = Array(input.dropFirst().prefix(Int(input.first ?? 0) % 16))
        let modulus = Array(input.dropFirst(1 + exponent.count))
        if let key = try? PublicKey(rsaModulus: modulus, exponent: exponent) {
            try check(JWK(keyID: "", key: key))
            try require(
                key.components
                    == .rsa(modulus: Array(modulus.drop { $0 == 0 }), exponent: Array(exponent.drop { $0 == 0 })),
                "the numbers are the key's")
        }
        let (x, y) = (Array(input.prefix(32)), Array(input.dropFirst(32)))
        if let key = try? PublicKey(p256X: x, y: y) {
            try check(JWK(keyID: "", key: key))
            try require(key.components == .p256(x: x, y: y), "the coordinates are the key's")
        }
    }
}
