internal import COpenSSL

/// Points of edwards25519, as RFC 8032 encodes them. libcrypto 3.0 makes a key of any 32 bytes. It decodes them when it verifies,
/// and reduces numbers that are not below the field's order.
enum Ed25519Point {
    /// Whether RFC 8032 §5.1.3 decodes the bytes to a point other than those of order 1 and 2, where x is 0.
    ///
    /// - Parameter raw: 32 bytes: y, little-endian, and in the last bit the sign of x.
    static func isEncoding(_ raw: [UInt8]) -> Bool {
        let context = require(BN_CTX_new(), "BN_CTX_new")
        defer { BN_CTX_free(context) }
        // BN_CTX_start(3): what BN_CTX_get returns belongs to the context until BN_CTX_end.
        BN_CTX_start(context)
        defer { BN_CTX_end(context) }
        func number(_ bytes: [UInt8] = []) -> OpaquePointer {
            let number = require(BN_CTX_get(context), "BN_CTX_get")
            return require(BN_lebin2bn(bytes, Int32(bytes.count), number), "BN_lebin2bn")
        }
        let (order, one, y) = (number(fieldOrder), number([1]), number(raw.dropLast() + [raw[31] & 0x7F]))
        guard BN_cmp(y, order) < 0 else { return false }
        // x² = u / v with u = y² - 1 and v = d y² + 1. That is a square if and only if u v is.
        let (square, u, v) = (number(), number(), number())
        require(BN_mod_sqr(square, y, order, context), "BN_mod_sqr")
        require(BN_mod_sub(u, square, one, order, context), "BN_mod_sub")
        require(BN_mod_mul(v, number(d), square, order, context), "BN_mod_mul")
        require(BN_mod_add(v, v, one, order, context), "BN_mod_add")
        require(BN_mod_mul(u, u, v, order, context), "BN_mod_mul")
        let symbol = BN_kronecker(u, order, context)
        precondition(symbol != -2, "\(OpenSSLError("BN_kronecker"))")
        return symbol == 1
    }

    /// 2²⁵⁵ - 19, little-endian.
    private static let fieldOrder: [UInt8] = [0xED] + [UInt8](repeating: 0xFF, count: 30) + [0x7F]

    /// -121665 / 121666 in the field, little-endian (RFC 8032 §5.1).
    private static let d: [UInt8] = [
        0xA3, 0x78, 0x59, 0x13, 0xCA, 0x4D, 0xEB, 0x75, 0xAB, 0xD8, 0x41, 0x41, 0x4D, 0x0A, 0x70, 0x00,
        0x98, 0xE8, 0x79, 0x77, 0x79, 0x40, 0xC7, 0x8C, 0x73, 0xFE, 0x6F, 0x2B, 0xEE, 0x6C, 0x03, 0x52,
    ]
}
