import Gzip
import Testing

@Suite struct GunzipTests {
    private static let text = Array("hello, hello, hello".utf8)
    private static let member = bytes("1f8b08000000000002ffcb48cdc9c9d751c840a2009fa1ca0913000000")
    private static let empty = bytes("1f8b08000000000002ff03000000000000000000")
    /// `hello`, with an extra field, a name, a comment and the header's checksum.
    private static let decorated = bytes(
        "1f8b081e0000000000030400616200006e616d6500636f6d6d656e74004a67cb48cdc9c9070086a6103605000000")
    /// 262 144 zero bytes in 289.
    private static let dense = bytes(
        "1f8b08000000000002ffedc13101000000c2a0f54fed6d07a0" + String(repeating: "00", count: 254)
            + "de0022ea0ee200000400")

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    @Test func memberIsInflated() throws {
        #expect(try gunzip(Self.member, limit: 100) == Self.text)
        #expect(try gunzip(Self.empty, limit: 100) == [])
        #expect(try gunzip(Self.decorated, limit: 100) == Array("hello".utf8))
        #expect(try gunzip(Self.dense, limit: 1 << 20) == [UInt8](repeating: 0, count: 1 << 18))
    }

    @Test func membersAreConcatenated() throws {
        #expect(try gunzip(Self.member + Self.member, limit: 100) == Self.text + Self.text)
        #expect(try gunzip(Self.empty + Self.member + Self.empty, limit: 100) == Self.text)
    }

    @Test func resultIsLimited() throws {
        #expect(try gunzip(Self.member, limit: 19) == Self.text)
        #expect(throws: GzipError.tooLarge) { try gunzip(Self.member, limit: 18) }
        #expect(throws: GzipError.tooLarge) { try gunzip(Self.member, limit: 0) }
        #expect(try gunzip(Self.empty, limit: 0) == [])
        #expect(try gunzip(Self.member + Self.member, limit: 38).count == 38)
        #expect(throws: GzipError.tooLarge) { try gunzip(Self.member + Self.member, limit: 37) }
        #expect(try gunzip(Self.dense, limit: 1 << 18).count == 1 << 18)
        #expect(throws: GzipError.tooLarge) { try gunzip(Self.dense, limit: 1 << 18 - 1) }
    }

    /// Would take 2.5 GB if it were decompressed completely.
    @Test func bombIsNotInflated() {
        let bomb = [[UInt8]](repeating: Self.dense, count: 10_000).flatMap { $0 }
        #expect(throws: GzipError.tooLarge) { try gunzip(bomb, limit: 1 << 20) }
    }

    @Test func everyCutIsNoticed() {
        for member in [Self.member, Self.empty, Self.decorated] {
            for count in 0..<member.count {
                #expect(throws: GzipError.truncated) { try gunzip(Array(member.prefix(count)), limit: 100) }
            }
        }
        for count in 1..<Self.member.count {
            #expect(throws: GzipError.truncated) {
                try gunzip(Self.member + Self.member.prefix(count), limit: 100)
            }
        }
    }

    @Test func everyChangeIsNoticed() {
        // The ten bytes of the header hold a time and more that changes nothing.
        for index in Self.member.indices.dropFirst(10) {
            for bit in 0..<8 {
                var changed = Self.member
                changed[index] ^= 1 << bit
                #expect(throws: GzipError.self) { try gunzip(changed, limit: 1000) }
            }
        }
        for index in [0, 1, 2] {
            var changed = Self.member
            changed[index] ^= 0xFF
            #expect(throws: GzipError.corrupt) { try gunzip(changed, limit: 1000) }
        }
    }

    @Test func otherBytesBehindAMemberAreCorrupt() {
        for garbage in [[0], [0, 0, 0, 0], Array("{}".utf8), Array("garbage behind".utf8)] as [[UInt8]] {
            #expect(throws: GzipError.corrupt) { try gunzip(Self.member + garbage + [0], limit: 100) }
        }
    }

    @Test(arguments: ["789ccb48cdc9c90700062c0215", "cb48cdc9c90700", "7b7d0a0a0a0a", "504b030414000000"])
    func otherFormatsAreCorrupt(hex: String) {
        #expect(throws: GzipError.corrupt) { try gunzip(Self.bytes(hex), limit: 100) }
    }
}
