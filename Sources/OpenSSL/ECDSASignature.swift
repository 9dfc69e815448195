/// A P-256 signature: JOSE writes r and s with 32 bytes each (RFC 7518 §3.4), libcrypto writes them as a DER sequence.
struct ECDSASignature: Equatable {
    let raw: [UInt8]

    init?(raw: [UInt8]) {
        guard raw.count == 64 else { return nil }
        self.raw = raw
    }

    /// - Parameter der: libcrypto's form: minimal integers in a sequence of less than 128 bytes.
    init?(der: [UInt8]) {
        guard der.count >= 2, der[0] == 0x30, Int(der[1]) == der.count - 2 else { return nil }
        var rest = der.dropFirst(2)
        var raw: [UInt8] = []
        for _ in 0..<2 {
            guard rest.count >= 2, rest.removeFirst() == 0x02 else { return nil }
            let count = Int(rest.removeFirst())
            guard rest.count >= count else { return nil }
            let digits = rest.prefix(count).drop { $0 == 0 }
            guard digits.count <= 32 else { return nil }
            raw += [UInt8](repeating: 0, count: 32 - digits.count) + digits
            rest = rest.dropFirst(count)
        }
        guard rest.isEmpty else { return nil }
        self.raw = raw
    }

    var der: [UInt8] {
        let content = integer(raw.prefix(32)) + integer(raw.suffix(32))
        return [0x30, UInt8(content.count)] + content
    }

    /// In DER the first bit is a sign, and the only leading zero allowed is one that keeps the number positive.
    private func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var digits = Array(bytes.drop { $0 == 0 })
        if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
        return [0x02, UInt8(digits.count)] + digits
    }
}
