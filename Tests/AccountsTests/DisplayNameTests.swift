import Accounts
import Testing

/// What others may be shown as a name (accounts §1.7).
@Suite struct DisplayNameTests {
    @Test(arguments: [
        "", " ", "Ada Lovelace", "홍길동", "👩‍👩‍👧‍👦", "محمد\u{200F} 2", "\u{200E}Ada\u{61C}", "Zoe\u{308}", "Ada\u{AD}",
    ])
    func acceptable(_ name: String) { #expect(DisplayName.isAcceptable(name)) }

    @Test func controlCharactersAreNot() {
        for value in [0..<0x20, 0x7F..<0xA0].joined() {
            #expect(!DisplayName.isAcceptable("Ada\(Character(Unicode.Scalar(UInt8(value))))"), "\(value)")
        }
    }

    @Test(arguments: ["\u{2028}", "\u{2029}"])
    func whatBeginsALineIsNot(_ separator: String) { #expect(!DisplayName.isAcceptable("Ada\(separator)")) }

    @Test func whatTurnsTheDirectionIsNot() {
        for value in [0x202A...0x202E, 0x2066...0x2069].joined() {
            let scalar = Unicode.Scalar(UInt32(value)).map(String.init) ?? ""
            #expect(!DisplayName.isAcceptable("Ada\(scalar)"), "\(value)")
            #expect(!DisplayName.isAcceptable("\(scalar)"), "\(value)")
        }
    }
}
