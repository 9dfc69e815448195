import Dispatch
import OpenSSL
import Testing

@Suite struct AES256GCMTests {
    private static let key = "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"
    private static let plaintext = """
        d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657
        ba637b391aafd255
        """
    private static let ciphertext = """
        522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0a
        bcc9f662898015ad
        """
    private static let zeros = String(repeating: "0", count: 64)

    /// Test cases 13 to 16 of the GCM specification (McGrew and Viega, appendix B).
    @Test(
        arguments: [
            (zeros, zeros.prefix(24), "", "", "", "530f8afbc74536b9a963b4f1c4cb738b"),
            (
                zeros, zeros.prefix(24), zeros.prefix(32), "", "cea7403d4d606b6e074ec5d3baf39d18",
                "d0d1c8a799996bf0265b98b5d48ab919"
            ),
            (key, "cafebabefacedbaddecaf888", plaintext[...], "", ciphertext, "b094dac5d93471bdec1a502270e3cc6c"),
            (
                key, "cafebabefacedbaddecaf888", plaintext.dropLast(8), "feedfacedeadbeeffeedfacedeadbeefabaddad2",
                String(ciphertext.dropLast(8)), "76fc6ece0f4e1768cddf8853bb2d551b"
            ),
        ] as [(String, Substring, Substring, String, String, String)])
    func specifiedCases(
        key: String, nonce: Substring, plaintext: Substring, associatedData: String, ciphertext: String, tag: String
    ) throws {
        let cipher = AES256GCM(key: bytes(key))
        let (nonce, plaintext) = (bytes(String(nonce)), bytes(String(plaintext)))
        let sealed = cipher.seal(plaintext, nonce: nonce, associatedData: bytes(associatedData))
        #expect(sealed == nonce + bytes(ciphertext) + bytes(tag))
        #expect(try cipher.open(sealed, associatedData: bytes(associatedData)) == plaintext)
    }

    @Test func everyLengthOpens() throws {
        let cipher = AES256GCM(key: randomBytes(32))
        for size in Array(0...65) + [4096, 100_000] {
            let text = randomBytes(size)
            let sealed = cipher.seal(text, associatedData: [1])
            #expect(sealed.count == size + AES256GCM.nonceSize + AES256GCM.tagSize)
            #expect(try cipher.open(sealed, associatedData: [1]) == text)
        }
    }

    @Test func noncesDiffer() {
        let cipher = AES256GCM(key: randomBytes(32))
        #expect(Set((0..<1000).map { _ in cipher.seal([1]).prefix(AES256GCM.nonceSize) }).count == 1000)
    }

    @Test(arguments: ["text", ""]) func changedTextDoesNotOpen(text: String) {
        let cipher = AES256GCM(key: randomBytes(32))
        let sealed = cipher.seal(Array(text.utf8), associatedData: [1, 2])
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 0x80
            #expect(throws: OpenSSLError.self) { try cipher.open(changed, associatedData: [1, 2]) }
        }
        for count in 0..<sealed.count {
            #expect(throws: OpenSSLError.self) { try cipher.open(Array(sealed.prefix(count)), associatedData: [1, 2]) }
        }
        for other in [[], [1], [1, 2, 3], [2, 1]] as [[UInt8]] {
            #expect(throws: OpenSSLError.self) { try cipher.open(sealed, associatedData: other) }
        }
        #expect(throws: OpenSSLError.self) { try cipher.open(sealed + [0], associatedData: [1, 2]) }
        #expect(throws: OpenSSLError.self) {
            try AES256GCM(key: randomBytes(32)).open(sealed, associatedData: [1, 2])
        }
    }

    /// What opened or refused one value leaves nothing to the next one, on any thread.
    @Test func onesFailureIsNotTheNextOnes() {
        let cipher = AES256GCM(key: randomBytes(32))
        let values = (0..<64).map { size in (text: randomBytes(size), row: randomBytes(8)) }
        let sealed = values.map { cipher.seal($0.text, associatedData: $0.row) }
        DispatchQueue.concurrentPerform(iterations: 2000) { @Sendable round in
            let index = round % values.count
            #expect(throws: OpenSSLError.self) { try cipher.open(sealed[index], associatedData: [1]) }
            #expect((try? cipher.open(sealed[index], associatedData: values[index].row)) == values[index].text)
            #expect(throws: OpenSSLError.self) {
                try cipher.open(sealed[index].dropLast() + [sealed[index].last! ^ 1], associatedData: values[index].row)
            }
        }
    }
}
