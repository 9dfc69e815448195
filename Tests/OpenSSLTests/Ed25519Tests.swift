import OpenSSL
import Testing

@Suite struct Ed25519Tests {
    /// RFC 8032 §7.1: TEST 1, TEST 2, TEST 3.
    @Test(arguments: [
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
                + "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
        ),
        (
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
                + "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
        ),
        (
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
                + "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
        ),
    ])
    func testVectors(seed: String, publicKey: String, message: String, signature: String) throws {
        let (message, signature) = (bytes(message), bytes(signature))
        let key = try Ed25519PrivateKey(seed: bytes(seed))
        #expect(key.publicKey == bytes(publicKey))
        #expect(try key.sign(message) == signature)
        let verifier = try Ed25519PublicKey(raw: bytes(publicKey))
        #expect(verifier.verify(signature, of: message))
        #expect(!verifier.verify(signature, of: message + [0]))
        for index in signature.indices {
            var changed = signature
            changed[index] ^= 1
            #expect(!verifier.verify(changed, of: message))
        }
        #expect(!verifier.verify(signature.dropLast(), of: message) && !verifier.verify(signature + [0], of: message))
        #expect(!verifier.verify([], of: message))
    }

    /// S plus the order of the group verifies by the equation, and is refused by RFC 8032 §5.1.7.
    @Test func aSignatureHasOneForm() throws {
        let key = try Ed25519PrivateKey(seed: [UInt8](0..<32))
        let message = Array("message".utf8)
        let signature = try key.sign(message)
        let order = bytes("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010")
        var carry = 0
        let other = zip(signature.suffix(32), order).map { digit, addend in
            let sum = Int(digit) + Int(addend) + carry
            carry = sum >> 8
            return UInt8(sum & 0xFF)
        }
        #expect(try !Ed25519PublicKey(raw: key.publicKey).verify(signature.prefix(32) + other, of: message))
    }

    /// Computed from the curve's equation: the eight points, and their other encodings.
    @Test(arguments: [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ])
    func pointsOfSmallOrderAreNoKeys(encoding: String) {
        for sign: UInt8 in [0, 0x80] {
            var raw = bytes(encoding)
            raw[31] |= sign
            #expect(throws: OpenSSLError.self) { try Ed25519PublicKey(raw: raw) }
            #expect(throws: OpenSSLError.self) { try Ed25519PublicKey(registered: raw) }
        }
    }

    /// y is not below 2²⁵⁵ - 19: seven numbers that are points when they are reduced, and one that is none.
    @Test(arguments: ["ed", "f0", "f1", "f2", "f3", "f6", "ff", "f4"]) func aKeyHasOneEncoding(first: String) throws {
        let (raw, y) = (bytes(first + String(repeating: "ff", count: 31)), bytes(first)[0] &- 0xED)
        for sign: UInt8 in [0, 0x80] {
            #expect(throws: OpenSSLError.self) { try Ed25519PublicKey(raw: raw.dropLast() + [0x7F | sign]) }
        }
        // The same point, reduced, is a key.
        if y > 1, y != 7 {
            #expect(throws: Never.self) { try Ed25519PublicKey(raw: [y] + [UInt8](repeating: 0, count: 31)) }
        }
    }

    /// Computed from the curve's equation, where these have no x.
    @Test(arguments: [2, 7, 8, 11] as [UInt8]) func whatIsOffTheCurveIsNoKey(y: UInt8) throws {
        for sign: UInt8 in [0, 0x80] {
            let raw = [y] + [UInt8](repeating: 0, count: 30) + [sign]
            #expect(throws: OpenSSLError.self) { try Ed25519PublicKey(raw: raw) }
            // R of order 1 and S = 0 would be a signature by a key of order 1.
            let forged = [1] + [UInt8](repeating: 0, count: 63)
            #expect(try !Ed25519PublicKey(registered: raw).verify(forged, of: [1]))
        }
    }

    @Test func everyKeyThatIsMadeIsAPoint() throws {
        for _ in 0..<200 {
            let key = try Ed25519PrivateKey()
            let read = try Ed25519PublicKey(raw: key.publicKey)
            let stored = try Ed25519PublicKey(registered: key.publicKey)
            let signature = try key.sign([7])
            #expect(read.verify(signature, of: [7]) && stored.verify(signature, of: [7]))
            #expect(!stored.verify(signature, of: [8]))
        }
    }

    @Test(arguments: [0, 31, 33]) func keysHaveTheirLength(count: Int) {
        let raw = [UInt8](repeating: 9, count: count)
        #expect(throws: OpenSSLError.self) { try Ed25519PublicKey(raw: raw) }
        #expect(throws: OpenSSLError.self) { try Ed25519PublicKey(registered: raw) }
        #expect(throws: OpenSSLError.self) { try Ed25519PrivateKey(seed: [UInt8](repeating: 9, count: count)) }
    }
}
