import Testing

@testable import OpenSSL

/// Converts between JOSE's r and s of 32 bytes each and DER's integers, which have a sign and no leading zeros.
@Suite struct ECDSASignatureTests {
    private static func number(_ first: UInt8, zeros: Int = 0) -> [UInt8] {
        [UInt8](repeating: 0, count: zeros) + [first] + [UInt8](repeating: 7, count: 31 - zeros)
    }

    @Test(
        arguments: [
            (number(0x7F), "0220 7f" + sevens(31)), (number(0x80), "0221 0080" + sevens(31)),
            (number(1, zeros: 1), "021f 01" + sevens(30)), (number(0xFF, zeros: 1), "0220 00ff" + sevens(30)),
            (number(1, zeros: 31), "0201 01"), ([UInt8](repeating: 0, count: 32), "0201 00"),
            ([UInt8](repeating: 0xFF, count: 32), "0221 00" + String(repeating: "ff", count: 32)),
        ] as [([UInt8], String)])
    func integers(number: [UInt8], der: String) throws {
        let one = [UInt8](repeating: 0, count: 31) + [1]
        for (raw, content) in [(number + one, bytes(der) + [2, 1, 1]), (one + number, [2, 1, 1] + bytes(der))] {
            let encoded = [0x30, UInt8(content.count)] + content
            #expect(try #require(ECDSASignature(raw: raw)).der == encoded)
            #expect(ECDSASignature(der: encoded)?.raw == raw)
        }
    }

    private static func sevens(_ count: Int) -> String { String(repeating: "07", count: count) }

    @Test(arguments: [0, 1, 32, 63, 65, 128]) func rawFormHasExactly64Bytes(count: Int) {
        #expect(ECDSASignature(raw: [UInt8](repeating: 1, count: count)) == nil)
    }

    @Test(arguments: [
        "", "30", "3000", "3003 020101", "3006 020101 0201", "3007 020101 020101", "3106 020101 020101",
        "3006 030101 020101", "3006 020101 030101", "3006 020101 020201", "3007 020101 020101 00",
        "3006 020101 020101 00",
        "3026 0221" + String(repeating: "01", count: 33) + "020101", "3006 020401 020101",
    ])
    func otherSequencesAreRefused(der: String) { #expect(ECDSASignature(der: bytes(der)) == nil) }
}
