import JOSE
import OpenSSL
import TestSupport
import Text

extension TokenVector {
    /// RSASSA-PKCS1-v1_5 with SHA-256 (RFC 7518 §3.3, RFC 8017 §8.2 and §9.2).
    static let rs256: [TokenVector] = paddings + sizesOfSignatures + numbers + otherSchemes

    private static func rs256(
        _ id: String, _ comment: String, _ flags: [Flag], _ verdict: Verdict = .refused(.badSignature),
        _ sign: @escaping @Sendable ([UInt8]) throws -> [UInt8]
    ) -> TokenVector {
        TokenVector("rs256-\(id)", comment, flags, verdict) { try token(rsaHeader, sign) }
    }

    // MARK: What is signed

    /// The DER of a DigestInfo up to the digest (RFC 8017 §9.2, note 1).
    private static let sha256Prefix: [UInt8] = [
        0x30, 0x31, 0x30, 0x0D, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00, 0x04,
        0x20,
    ]

    private static func digestInfo(_ message: [UInt8]) -> [UInt8] { sha256Prefix + sha256(message) }

    /// `00 01 FF … FF 00` and what is given, of the modulus' size.
    private static func padded(_ content: [UInt8], start: [UInt8] = [0, 1], filling: UInt8 = 0xFF) -> [UInt8] {
        start + [UInt8](repeating: filling, count: 256 - start.count - 1 - content.count) + [0] + content
    }

    private static func padding(
        _ id: String, _ comment: String, _ verdict: Verdict = .refused(.badSignature),
        _ encode: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) -> TokenVector {
        rs256("padding-\(id)", comment, [.padding], verdict) { try RawRSA.sign(encoded: encode($0)) }
    }

    private static let paddings: [TokenVector] = [
        padding("own", "as it has to be", .verified) { padded(digestInfo($0)) },
        padding("other-message", "of another message") { _ in padded(digestInfo([1])) },
        padding("no-null", "without the parameters' NULL") { message in
            padded([0x30, 0x2F, 0x30, 0x0B] + sha256Prefix[4..<15] + [0x04, 0x20] + sha256(message))
        },
        padding("null-with-content", "a NULL of one byte") { message in
            padded([0x30, 0x32, 0x30, 0x0E] + sha256Prefix[4..<15] + [0x05, 0x01, 0x00, 0x04, 0x20] + sha256(message))
        },
        padding("long-length", "a length that is no DER") { message in
            padded([0x30, 0x81] + sha256Prefix.dropFirst() + sha256(message))
        },
        padding("indefinite-length", "a length that ends later") { message in
            padded([0x30, 0x80] + sha256Prefix.dropFirst(2) + sha256(message) + [0, 0])
        },
        padding("bare-digest", "the digest without its algorithm") { padded(sha256($0)) },
        padding("sha512-named", "the name of SHA-512 before it") { message in
            var prefix = sha256Prefix
            prefix[14] = 3
            return padded(prefix + sha256(message))
        },
        padding("sha1-named", "the name of SHA-1 before it") { message in
            padded(
                [0x30, 0x2D, 0x30, 0x09, 0x06, 0x05, 0x2B, 0x0E, 0x03, 0x02, 0x1A, 0x05, 0x00, 0x04, 0x20]
                    + sha256(message))
        },
        padding("short-digest", "a digest cut in half") { message in padded(digestInfo(message).dropLast(16)) },
        padding("garbage-behind", "eight bytes of padding, and garbage behind the digest") { message in
            let start: [UInt8] = [0, 1] + [UInt8](repeating: 0xFF, count: 8) + [0] + digestInfo(message)
            return start + [UInt8](repeating: 0, count: 256 - start.count)
        },
        padding("garbage-inside", "garbage in the parameters") { message in
            let garbage = [UInt8](repeating: 0xAA, count: 64)
            return padded(
                [0x30, 0x71, 0x30, 0x4D] + sha256Prefix[4..<15] + [0x04, 0x40] + garbage + [0x04, 0x20]
                    + sha256(message))
        },
        padding("none", "no padding at all") { message in
            let content = digestInfo(message)
            return [UInt8](repeating: 0, count: 256 - content.count) + content
        },
        padding("type-0", "block type 0") { padded(digestInfo($0), start: [0, 0], filling: 0) },
        padding("type-2", "block type 2, for encryption") { padded(digestInfo($0), start: [0, 2], filling: 0x55) },
        padding("other-filling", "padding that is not FF") { padded(digestInfo($0), filling: 0xFE) },
        padding("one-other", "one byte of padding that is not FF") { message in
            var encoded = padded(digestInfo(message))
            encoded[100] = 0xFE
            return encoded
        },
        padding("no-separator", "no zero byte before the content") { message in
            var encoded = padded(digestInfo(message))
            encoded[256 - 52] = 0xFF
            return encoded
        },
        padding("first-byte", "a first byte that is not zero, as far as the modulus lets it be") { message in
            [0x01] + padded(digestInfo(message)).dropFirst()
        },
    ]

    // MARK: Its form

    private static let sizesOfSignatures: [TokenVector] = [
        rs256("empty", "nothing", [.range]) { _ in [] },
        rs256("cut", "without its last byte", [.range]) { try TestIssuer.key.sign($0).dropLast() },
        rs256("longer", "with a zero byte behind it", [.range]) { try TestIssuer.key.sign($0) + [0] },
        rs256("zero-before", "with a zero byte before it, the same number", [.range]) {
            [0] + (try TestIssuer.key.sign($0))
        },
        TokenVector(
            "rs256-zero-cut", "without its leading zero byte, the same number", [.range], .refused(.badSignature)
        ) {
            // A 256th of them has one, and each payload makes another.
            for number in 0... {
                let parts = try signed(rsaHeader, "{\"a\":\(number)}").split(separator: ".")
                guard let signature = Base64URL.decode(String(parts[2])) else { break }
                if signature[0] == 0 {
                    return "\(parts[0]).\(parts[1]).\(Base64URL.encode(Array(signature.dropFirst())))"
                }
            }
            throw TestSupportError("no signature begins with a zero byte")
        },
        rs256("twice", "two of them", [.range]) { try TestIssuer.key.sign($0) + TestIssuer.key.sign($0) },
        rs256("reversed", "the other byte order", [.range]) { try TestIssuer.key.sign($0).reversed() },
        rs256("hexadecimal", "as text", [.encoding]) { Array(try TestIssuer.key.sign($0).hexadecimal.utf8) },
        rs256("of-payload", "of the payload instead of the signing input", [.padding]) { _ in
            try TestIssuer.key.sign(Array("{}".utf8))
        },
        rs256("of-digest", "of the digest, hashed again", [.padding]) { try TestIssuer.key.sign(sha256($0)) },
    ]

    private static var modulus: [UInt8] {
        guard case .rsa(let modulus, _) = TestIssuer.rsa.jwk.key.components else { return [] }
        return modulus
    }

    private static let numbers: [TokenVector] = [
        rs256("number-0", "zero", [.range]) { _ in [UInt8](repeating: 0, count: 256) },
        rs256("number-1", "one", [.range]) { _ in [UInt8](repeating: 0, count: 255) + [1] },
        rs256("number-n-1", "the modulus less one", [.range]) { _ in modulus.dropLast() + [(modulus.last ?? 1) - 1] },
        rs256("number-n", "the modulus", [.range]) { _ in modulus },
        rs256("number-highest", "more than the modulus", [.range]) { _ in [UInt8](repeating: 0xFF, count: 256) },
        rs256("number-plus-n", "the signature and the modulus: the same number modulo it", [.range]) { message in
            Unsigned.sum(try TestIssuer.key.sign(message), modulus)
        },
        rs256("number-negative", "the modulus less the signature", [.range]) { message in
            Unsigned.difference(modulus, try TestIssuer.key.sign(message))
        },
    ]

    private static let otherSchemes: [TokenVector] = [
        rs256("pss", "RSASSA-PSS with the same key", [.algorithm, .padding]) { message in
            try RawRSA.sign(
                message: message, "-sha256", "-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:digest")
        },
        rs256("sha512", "with SHA-512", [.algorithm]) { try RawRSA.sign(message: $0, "-sha512") },
        rs256("sha1", "with SHA-1", [.algorithm]) { try RawRSA.sign(message: $0, "-sha1") },
        rs256("ecdsa", "ECDSA, by the other key", [.algorithm]) { try TestIssuer.ellipticCurveKey.sign($0) },
        rs256("other-key", "by another RSA key", [.keyChoice]) { try TestIssuer.otherKey.sign($0) },
    ]
}
