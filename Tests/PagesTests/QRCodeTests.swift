import OpenSSL
import Testing
import Text

@testable import Pages

/// QR codes, compared with those of another encoder: Python's qrcode 8, which was given version, mask, byte mode and level M.
@Suite struct QRCodeTests {
    /// SHA-256 of the modules, one line of `0` and `1` for each row; its first half.
    private static let codes: [(text: String, mask: Int, size: Int, digest: String)] = [
        ("a", 3, 21, "8503acd70f562cac1b09f318b40f5fa5"),
        ("https://id.example/oauth/qr/AAAAAAAAAAAAAAAAAAAAAA", 0, 33, "2a7725f52cec9ecb608a6be5460347da"),
        ("https://id.example.com/oauth/qr/0123456789abcdefABCDEF", 5, 33, "31cd25425fe4ddae74d87908d095cacc"),
        (String(repeating: "x", count: 122), 7, 45, "d8ac890813e7069b89c0640dc9b50fd9"),
        (String(repeating: "y", count: 180), 2, 53, "5c63d4766fa1af14131300e85c9ac878"),
        (String(repeating: "z", count: 290), 6, 69, "9a8dbbbfc3d732eda4f38bbeccb419c0"),
    ]

    private func rows(_ code: QRCode) -> [String] {
        (0..<code.size).map { row in (0..<code.size).map { code[row, $0] ? "1" : "0" }.joined() }
    }

    @Test(arguments: codes) func isThatOfAnotherEncoder(text: String, mask: Int, size: Int, digest: String) throws {
        let code = try #require(QRCode(Array(text.utf8), mask: mask))
        #expect(code.size == size)
        #expect(sha256(rows(code).joined(separator: "\n").utf8).hexadecimal.prefix(32) == digest)
    }

    @Test func withoutAMaskItIsOneOfTheEight() throws {
        for (text, _, _, _) in Self.codes {
            let code = try #require(QRCode(Array(text.utf8)))
            #expect((0...7).compactMap { QRCode(Array(text.utf8), mask: $0) }.contains(code))
        }
    }

    /// The longest host, and no more than versions up to 15 take.
    @Test func anAddressFits() {
        #expect(QRCode([UInt8](repeating: 0x61, count: 412))?.size == 77)
        #expect(QRCode([UInt8](repeating: 0x61, count: 413)) == nil)
        #expect(QRCode([])?.size == 21)
    }

    @Test func thePathHasEveryDarkModuleOnce() throws {
        let code = try #require(QRCode(Array("https://id.example".utf8)))
        var drawn = Set<[Int]>()
        for run in code.path.matches(of: /M(\d+) (\d+)h(\d+)v1h-(\d+)z/) {
            let (x, y, width) = (Int(run.1) ?? 0, Int(run.2) ?? 0, Int(run.3) ?? 0)
            #expect(run.3 == run.4)
            for column in x..<(x + width) { #expect(drawn.insert([y - 4, column - 4]).inserted) }
        }
        let dark = (0..<code.size).flatMap { row in (0..<code.size).filter { code[row, $0] }.map { [row, $0] } }
        #expect(drawn == Set(dark))
    }
}
