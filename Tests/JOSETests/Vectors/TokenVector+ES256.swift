import JOSE
import OpenSSL
import TestSupport
import Text

extension TokenVector {
    /// ECDSA on P-256 with SHA-256, as r and s of 32 bytes each (RFC 7518 §3.4).
    static let es256: [TokenVector] = forms + ranges + relations

    private static func es256(
        _ id: String, _ comment: String, _ flags: [Flag], _ verdict: Verdict = .refused(.badSignature),
        _ sign: @escaping @Sendable ([UInt8]) throws -> [UInt8]
    ) -> TokenVector {
        TokenVector("es256-\(id)", comment, flags, verdict) { try token(p256Header, sign) }
    }

    /// What is made of r and s of a good signature.
    private static func changed(
        _ id: String, _ comment: String, _ flags: [Flag], _ verdict: Verdict = .refused(.badSignature),
        _ change: @escaping @Sendable (_ r: [UInt8], _ s: [UInt8]) -> [UInt8]
    ) -> TokenVector {
        es256(id, comment, flags, verdict) { message in
            let signature = try TestIssuer.ellipticCurveKey.sign(message)
            return change(Array(signature.prefix(32)), Array(signature.suffix(32)))
        }
    }

    private static let zero = [UInt8](repeating: 0, count: 32)
    private static let one = [UInt8](repeating: 0, count: 31) + [1]
    private static let highest = [UInt8](repeating: 0xFF, count: 32)
    /// The order of the group (SEC 2 §2.4.2).
    private static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xBC, 0xE6, 0xFA, 0xAD,
        0xA7,
        0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]
    private static let orderLessOne = Unsigned.difference(order, one)
    /// The prime of the field.
    private static let prime: [UInt8] =
        [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 12) + [UInt8](repeating: 0xFF, count: 12)

    // MARK: Form

    private static func der(_ r: [UInt8], _ s: [UInt8], isMinimal: Bool = true) -> [UInt8] {
        let integers = [r, s].flatMap { number in
            let digits = isMinimal ? Array(number.drop { $0 == 0 }) : number
            let content = (digits.first ?? 0x80) >= 0x80 || !isMinimal ? [0] + digits : digits
            return [0x02, UInt8(content.count)] + content
        }
        return [0x30, UInt8(integers.count)] + integers
    }

    private static let forms: [TokenVector] = [
        changed("own", "as it has to be", [.legitimate], .verified) { $0 + $1 },
        changed("der", "the sequence that other protocols have", [.encoding]) { der($0, $1) },
        changed("der-long", "the same with more zeros", [.encoding]) { der($0, $1, isMinimal: false) },
        changed("der-of-64", "a sequence of 64 bytes in all", [.encoding, .range]) { _, _ in
            der([UInt8](repeating: 1, count: 29), [UInt8](repeating: 1, count: 29))
        },
        changed("empty", "nothing", [.range]) { _, _ in [] },
        changed("r-alone", "half of it", [.range]) { r, _ in r },
        changed("cut", "without its last byte", [.range]) { $0 + $1.dropLast() },
        changed("longer", "with a zero byte behind it", [.range]) { $0 + $1 + [0] },
        changed("zero-before", "with a zero byte before it", [.range]) { [0] + $0 + $1 },
        changed("zeros-before", "with a zero byte before each number", [.range]) { [0] + $0 + [0] + $1 },
        changed("wide", "numbers of 48 bytes, as of P-384", [.range]) { r, s in
            let zeros = [UInt8](repeating: 0, count: 16)
            return zeros + r + zeros + s
        },
        changed("swapped", "s before r", [.encoding]) { $1 + $0 },
        changed("reversed", "the other byte order", [.encoding]) { $0.reversed() + $1.reversed() },
        changed("hexadecimal", "as text", [.encoding]) { Array(($0 + $1).hexadecimal.utf8) },
        changed("twice", "two of them", [.range]) { $0 + $1 + $0 + $1 },
        es256("short-number", "r without its leading zero byte", [.range]) { message in
            // A 256th of them has one.
            while true {
                let signature = try TestIssuer.ellipticCurveKey.sign(message)
                if signature[0] == 0 { return Array(signature.dropFirst()) }
            }
        },
        es256("leading-zero", "r with a leading zero byte, as it has to be", [.range, .legitimate], .verified) {
            message in
            while true {
                let signature = try TestIssuer.ellipticCurveKey.sign(message)
                if signature[0] == 0 { return signature }
            }
        },
    ]

    // MARK: Range

    /// Every pair of the numbers at the limits, of which one half is a good one or neither is.
    private static let ranges: [TokenVector] = {
        let limits = [
            ("0", zero), ("1", one), ("n-1", orderLessOne), ("n", order), ("p", prime), ("highest", highest),
        ]
        return limits.flatMap { left in
            limits.map { right in
                es256("r-\(left.0)-s-\(right.0)", "numbers at the limits", [.range]) { _ in left.1 + right.1 }
            }
        }
            + limits.flatMap { limit in
                [
                    changed("r-\(limit.0)", "r at a limit, s good", [.range]) { limit.1 + $1 },
                    changed("s-\(limit.0)", "s at a limit, r good", [.range]) { r, _ in r + limit.1 },
                ]
            }
    }()

    // MARK: Relations

    private static let relations: [TokenVector] = [
        changed("r-negative", "n - r for r", [.range]) { Unsigned.difference(order, $0) + $1 },
        // ECDSA says so (FIPS 186-5 §6.4): a signature is no name for what it signs.
        changed("s-negative", "n - s for s: a signature too", [.legitimate], .verified) {
            $0 + Unsigned.difference(order, $1)
        },
        changed("both-negative", "n - r and n - s", [.range]) {
            Unsigned.difference(order, $0) + Unsigned.difference(order, $1)
        },
        changed("s-is-r", "r twice", [.range]) { r, _ in r + r },
        es256("other-key", "by another key", [.keyChoice]) { try PrivateKey.generateP256().sign($0) },
        es256("rsa", "RS256, by the other key", [.algorithm]) { try TestIssuer.key.sign($0) },
        es256("of-payload", "of the payload instead of the signing input", [.encoding]) { _ in
            try TestIssuer.ellipticCurveKey.sign(Array("{}".utf8))
        },
        es256("of-digest", "of the digest, hashed again", [.encoding]) {
            try TestIssuer.ellipticCurveKey.sign(sha256($0))
        },
    ]
}
