import Text

extension KeyVector {
    /// RFC 7518 §6.3, RFC 8725 §3.5.
    static let rsa: [KeyVector] = moduli + exponents + encodingsOfNumbers

    private static func modulus(
        _ id: String, _ comment: String, isUsable: Bool = false, _ modulus: [UInt8]
    ) -> KeyVector {
        KeyVector("rsa-n-\(id)", comment, [.range], isUsable: isUsable, rsa(n: Base64URL.encode(modulus)))
    }

    private static func ones(_ bits: Int) -> [UInt8] {
        let first: [UInt8] = bits % 8 == 0 ? [] : [0xFF >> (8 - bits % 8)]
        return first + [UInt8](repeating: 0xFF, count: bits / 8)
    }

    private static let moduli: [KeyVector] = [
        modulus("own", "as it has to be", isUsable: true, modulus),
        modulus("zero-before", "a zero byte before it, as some write it", isUsable: true, [0] + modulus),
        modulus(
            "zeros-before", "many zero bytes before it", isUsable: true, [UInt8](repeating: 0, count: 100) + modulus),
        modulus("even", "even: its factor 2 is known", modulus.dropLast() + [(modulus.last ?? 0) & 0xFE]),
        modulus("empty", "nothing", []), modulus("0", "zero", [0]), modulus("1", "one", [1]),
        modulus("zeros", "zero, of the right size", [UInt8](repeating: 0, count: 256)),
        modulus("512", "512 bits", ones(512)), modulus("1024", "1024 bits", ones(1024)),
        modulus("2040-padded", "2040 bits in 256 bytes", [0] + ones(2040)),
        modulus("2047", "a bit too short", ones(2047)), modulus("2048", "the shortest", isUsable: true, ones(2048)),
        modulus("8192", "the longest", isUsable: true, ones(8192)), modulus("8193", "a bit too long", ones(8193)),
        modulus("16384", "what takes long to compute with", ones(16_384)),
        modulus("100000", "what takes very long", ones(100_000)),
    ]

    private static let exponents: [KeyVector] = [
        ("3", [3], true), ("65537", [1, 0, 1], true), ("zero-before", [0, 1, 0, 1], true),
        ("64-bits", [UInt8](repeating: 0xFF, count: 8), true), ("empty", [], false), ("0", [0], false),
        ("1", [1], false), ("1-padded", [0, 0, 0, 1], false), ("2", [2], false), ("even", [1, 0, 0], false),
        ("65-bits", [1] + [UInt8](repeating: 0xFF, count: 8), false), ("n", modulus, false),
        ("n-2", modulus.dropLast() + [(modulus.last ?? 2) - 2], false),
    ]
    .map { (name: String, exponent: [UInt8], isUsable: Bool) in
        KeyVector(
            "rsa-e-\(name)", isUsable ? "an odd exponent" : "an exponent that no key has", [.range], isUsable: isUsable,
            rsa(e: Base64URL.encode(exponent)))
    }

    private static let encodingsOfNumbers: [KeyVector] =
        [
            ("padding", "AQAB="), ("lone-character", "AQABA"), ("bits", "AQABAR"), ("space", "AQ AB"),
            ("line", "AQAB\\n"),
            ("decimal", "+65537"), ("zero", "AQAB\\u0000"),
        ]
        .map { name, exponent in
            KeyVector("rsa-e-\(name)", "no base64url", [.encoding], rsa(e: exponent))
        } + [
            KeyVector(
                "rsa-e-number", "a number instead of a string", [.json],
                #"{"kty":"RSA","kid":"a","n":"\#(RFC7515.rsaModulus)","e":65537}"#),
            KeyVector("rsa-n-absent", "without a modulus", [.json], #"{"kty":"RSA","kid":"a","e":"AQAB"}"#),
            KeyVector("rsa-n-padding", "a modulus with padding", [.encoding], rsa(n: RFC7515.rsaModulus + "==")),
            KeyVector(
                "rsa-n-alphabet", "a modulus in the other alphabet", [.encoding],
                rsa(n: RFC7515.rsaModulus.replacing("-", with: "+").replacing("_", with: "/"))),
            KeyVector(
                "rsa-n-null", "no modulus, by its own words", [.json], #"{"kty":"RSA","kid":"a","n":null,"e":"AQAB"}"#),
            KeyVector(
                "rsa-e-twice", "two exponents: the last counts, and is none", [.json], rsa(more: ",\"e\":\"AQ\"")),
            KeyVector(
                "rsa-e-twice-good", "two exponents: the last counts", [.json], isUsable: true,
                rsa(e: "AQ", more: ",\"e\":\"AQAB\"")),
        ]
}
