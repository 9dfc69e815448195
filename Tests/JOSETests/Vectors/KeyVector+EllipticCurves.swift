import Text

extension KeyVector {
    /// RFC 7518 §6.2, RFC 8725 §3.4: points that are on the curve, in one form.
    static let ellipticCurves: [KeyVector] = points + sizesOfCoordinates + curves

    private static func point(
        _ id: String, _ comment: String, isUsable: Bool = false, _ x: [UInt8], _ y: [UInt8]
    ) -> KeyVector {
        KeyVector(
            "ec-\(id)", comment, [.range], isUsable: isUsable, p256(x: Base64URL.encode(x), y: Base64URL.encode(y)))
    }

    private static let zero = [UInt8](repeating: 0, count: 32)
    private static let one = [UInt8](repeating: 0, count: 31) + [1]
    private static let prime: [UInt8] =
        [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 12) + [UInt8](repeating: 0xFF, count: 12)
    private static let highest = [UInt8](repeating: 0xFF, count: 32)

    private static let points: [KeyVector] = [
        point("own", "as it has to be", isUsable: true, x, y),
        point("negative", "p - y for y: the other point with this x", isUsable: true, x, Unsigned.difference(prime, y)),
        point("swapped", "y before x", y, x), point("x-twice", "x for y", x, x), point("y-twice", "y for x", y, y),
        point("x-changed", "a bit off the curve", x.dropLast() + [(x.last ?? 0) ^ 1], y),
        point("y-changed", "a bit off the curve", x, y.dropLast() + [(y.last ?? 0) ^ 1]),
        point("reversed", "the other byte order", x.reversed(), y.reversed()),
        point("0-0", "zeros, which stand for no point", zero, zero), point("x-0", "y = 0 has no x", x, zero),
        point("0-y", "another x", zero, y), point("1-1", "small numbers", one, one),
        point("p-y", "the prime, which is zero", prime, y), point("x-p", "the prime for y", x, prime),
        point("p-p", "the prime twice", prime, prime), point("highest", "more than the prime", highest, highest),
    ]

    private static let sizesOfCoordinates: [KeyVector] = [
        point("empty", "nothing: the point at infinity", [], []), point("x-alone", "no y: a compressed point", x, []),
        point("y-alone", "no x", [], y), point("x-longer", "a zero byte before x", [0] + x, y),
        point("y-longer", "a zero byte before y", x, [0] + y),
        point("both-longer", "zero bytes before both", [0] + x, [0] + y),
        point("x-shorter", "a byte too few", Array(x.dropLast()), y),
        point("y-shorter", "a byte too few", x, Array(y.dropFirst())),
        point("moved", "64 bytes in all, differently divided", x + y.prefix(1), Array(y.dropFirst())),
        point("in-x", "both in x", x + y, []), point("uncompressed", "SEC 1's form in x", [4] + x + y, y),
        point("huge", "a megabyte", [UInt8](repeating: 1, count: 1 << 20), y),
        KeyVector(
            "ec-no-y", "without the member y", [.json], #"{"kty":"EC","kid":"a","crv":"P-256","x":"\#(RFC7515.x)"}"#),
        KeyVector("ec-padding", "x with padding", [.encoding], p256(x: RFC7515.x + "=")),
        KeyVector(
            "ec-numbers", "coordinates that are numbers", [.json], #"{"kty":"EC","kid":"a","crv":"P-256","x":1,"y":2}"#),
        KeyVector(
            "ec-x-repeated", "two x: the last counts, and is off the curve", [.json],
            p256(more: ",\"x\":\"\(RFC7515.y)\"")
        ),
    ]

    private static let curves: [KeyVector] =
        [
            "P-384", "P-521", "p-256", "P256", "prime256v1", "secp256r1", "secp256k1", "P-256K", "Ed25519", "X25519",
            "",
            "P-256 ",
        ]
        .map { name in
            KeyVector(
                "ec-crv-\(name)", "a point of P-256 under another name", [.range], p256(more: ",\"crv\":\"\(name)\""))
        } + [
            // SEC 2 §2.4.1: its base point.
            point(
                "secp256k1", "a point of secp256k1",
                bytes("79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"),
                bytes("483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8")),
            // SEC 2 §2.4.2. Its private key is 1: what is published is all that can be judged.
            point(
                "generator", "the base point", isUsable: true,
                bytes("6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"),
                bytes("4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")),
            KeyVector("ec-crv-absent", "without a curve", [.json], p256(more: ",\"crv\":null")),
            KeyVector(
                "ec-as-rsa", "an elliptic curve's numbers for an RSA key", [.algorithm],
                p256(more: ",\"kty\":\"RSA\",\"n\":\"\(RFC7515.x)\",\"e\":\"AQAB\"")),
        ]

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
