import OpenSSL
import Testing

@Suite struct DigestTests {
    /// FIPS 180-4's examples and the empty message.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            String(repeating: "a", count: 1_000_000),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        ),
    ])
    func sha256Examples(message: String, digest: String) {
        #expect(sha256(message.utf8) == bytes(digest))
        #expect(sha256(Array(message.utf8)) == bytes(digest))
        for size in [1, 55, 64, 65_536] {
            let stream = SHA256Stream()
            var rest = Array(message.utf8)[...]
            while !rest.isEmpty {
                stream.update(Array(rest.prefix(size)))
                rest = rest.dropFirst(size)
            }
            #expect(stream.finish() == bytes(digest))
        }
    }

    /// Each thread has a context of its own.
    @Test func digestsOfManyThreads() async {
        let wrong = await withTaskGroup(of: Int.self) { group in
            for number in 0..<32 {
                group.addTask {
                    let message = Array(repeating: UInt8(number), count: 100 * number)
                    let stream = SHA256Stream()
                    stream.update(message)
                    let digest = stream.finish()
                    return (0..<500).count { _ in sha256(message) != digest }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(wrong == 0)
    }

    /// RFC 4231 §4.2 to §4.8, but for §4.6, which cuts the MAC.
    @Test(
        arguments: [
            (
                [UInt8](repeating: 0x0B, count: 20), Array("Hi There".utf8),
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                [UInt8](repeating: 0xAA, count: 20), [UInt8](repeating: 0xDD, count: 50),
                "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
            ),
            (
                Array(0x01...0x19), [UInt8](repeating: 0xCD, count: 50),
                "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
            ),
            (
                [UInt8](repeating: 0xAA, count: 131),
                Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
            (
                [UInt8](repeating: 0xAA, count: 131),
                Array(
                    ("This is a test using a larger than block-size key and a larger than block-size data. The key needs to be "
                        + "hashed before being used by the HMAC algorithm.").utf8),
                "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
            ),
            ([], [], "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"),
        ] as [([UInt8], [UInt8], String)])
    func hmacExamples(key: [UInt8], message: [UInt8], mac: String) {
        #expect(hmacSHA256(key: key, message) == bytes(mac))
    }

    @Test func equalityInConstantTime() {
        #expect(constantTimeEqual([], []))
        #expect(constantTimeEqual([1, 2], [1, 2]))
        #expect(!constantTimeEqual([1, 2], [1, 3]))
        #expect(!constantTimeEqual([0, 2], [1, 2]))
        #expect(!constantTimeEqual([1, 2], [1, 2, 0]))
        #expect(!constantTimeEqual([], [0]))
    }

    @Test func randomBytesDiffer() {
        for count in [0, 1, 32, 255, 256, 257, 512, 513] { #expect(randomBytes(count).count == count) }
        // All parts of one call differ, too, wherever the pieces that it is put together from begin and end.
        let many = randomBytes(100_000)
        #expect(Set(stride(from: 0, to: many.count, by: 16).map { many[$0..<$0 + 16] }).count == 6250)
        #expect(Set((0..<1000).map { _ in randomBytes(16) }).count == 1000)
    }
}
