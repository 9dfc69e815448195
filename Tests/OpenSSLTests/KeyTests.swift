import OpenSSL
import Testing

@Suite struct KeyTests {
    private static let message = Array("message".utf8)

    // MARK: PEM

    @Test func keysInPEMAreRead() throws {
        let key = try PrivateKey(pem: Keys.p256)
        #expect(key.kind == .p256)
        #expect(key.pem == Keys.p256)
        let older = try PrivateKey(pem: Keys.sec1)
        #expect(older.publicKey.components == key.publicKey.components)
        #expect(older.pem == Keys.p256)
        #expect(try PrivateKey(pem: "a line before\n" + Keys.p256).pem == Keys.p256)
    }

    @Test(arguments: [
        "", "x", "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n", Keys.p384, Keys.ed25519, Keys.encrypted,
        Keys.p256Public, Keys.rsa1024, Keys.rsaPSS, String(Keys.p256.dropLast(60)),
        Keys.p256.replacing("PRIVATE KEY", with: "CERTIFICATE"),
    ])
    func otherTextsAreRefused(pem: String) {
        #expect(throws: OpenSSLError.self) { try PrivateKey(pem: pem) }
    }

    @Test func generatedKeysComeBackFromPEM() throws {
        for key in [try PrivateKey.generateRSA(), try PrivateKey.generateP256()] {
            let read = try PrivateKey(pem: key.pem)
            #expect(read.kind == key.kind)
            #expect(read.publicKey.components == key.publicKey.components)
        }
    }

    @Test func rsaKeysAreLimitedInSize() throws {
        #expect(throws: OpenSSLError.self) { try PrivateKey.generateRSA(bits: 1024) }
        #expect(try PrivateKey.generateRSA(bits: 3072).kind == .rsa(bits: 3072))
    }

    // MARK: Components

    @Test func componentsMakeTheSameKey() throws {
        for key in [try PrivateKey.generateRSA(), try PrivateKey.generateP256()] {
            let signature = try key.sign(Self.message)
            switch key.publicKey.components {
            case .rsa(let modulus, let exponent):
                #expect(modulus.count == 256)
                #expect(exponent == [1, 0, 1])
                let copy = try PublicKey(rsaModulus: modulus, exponent: exponent)
                #expect(copy.kind == .rsa(bits: 2048))
                #expect(copy.components == key.publicKey.components)
                #expect(copy.verifyRS256(signature, of: Self.message))
            case .p256(let x, let y):
                let copy = try PublicKey(p256X: x, y: y)
                #expect(copy.components == key.publicKey.components)
                #expect(copy.verifyES256(signature, of: Self.message))
            }
        }
    }

    @Test func pointsMustBeOnTheCurve() throws {
        guard case .p256(let x, let y) = try PrivateKey.generateP256().publicKey.components else {
            Issue.record("not a P-256 key")
            return
        }
        let zero = [UInt8](repeating: 0, count: 32)
        let prime = bytes("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff")
        // x and x + p are the same number modulo p; only the first is a coordinate.
        for (x, y) in [(x, x), (y, x), (zero, zero), (x, zero), (prime, y), (x, prime), (prime, prime)] {
            #expect(throws: OpenSSLError.self) { try PublicKey(p256X: x, y: y) }
        }
        for (x, y) in [(Array(x.dropLast()), y), (x, [0] + y), ([], []), ([0] + x, y)] {
            #expect(throws: OpenSSLError.self) { try PublicKey(p256X: x, y: y) }
        }
    }

    @Test func unusableNumbersMakeNoRSAKey() throws {
        guard case .rsa(let modulus, _) = try PrivateKey.generateRSA().publicKey.components else {
            Issue.record("not an RSA key")
            return
        }
        for exponent in [[], [0], [1], [2], [0, 1], [1, 0], [UInt8](repeating: 1, count: 9)] as [[UInt8]] {
            #expect(throws: OpenSSLError.self) { try PublicKey(rsaModulus: modulus, exponent: exponent) }
        }
        let others: [[UInt8]] = [
            [], [0], modulus.dropLast() + [0], Array(modulus.prefix(255)), modulus + modulus + modulus + modulus + [1],
        ]
        for modulus in others {
            #expect(throws: OpenSSLError.self) { try PublicKey(rsaModulus: modulus, exponent: [1, 0, 1]) }
        }
    }

    // MARK: Signatures

    @Test func rsaSignatures() throws {
        let key = try PrivateKey.generateRSA()
        let signature = try key.sign(Self.message)
        #expect(signature.count == 256)
        #expect(try key.sign(Self.message) == signature)
        #expect(key.publicKey.verifyRS256(signature, of: Self.message))
        #expect(!key.publicKey.verifyES256(signature, of: Self.message))
        #expect(!key.publicKey.verifyRS256(signature, of: []))
        for other in [[], Array(signature.dropLast()), signature + [0], [0] + signature, signature.reversed()] {
            #expect(!key.publicKey.verifyRS256(other, of: Self.message))
        }
        for index in [0, 1, 127, 255] {
            var changed = signature
            changed[index] ^= 1
            #expect(!key.publicKey.verifyRS256(changed, of: Self.message))
        }
        #expect(try !PrivateKey.generateRSA().publicKey.verifyRS256(signature, of: Self.message))
    }

    /// The same number plus the modulus would pass a verifier that does not check its size.
    @Test func signatureMustBeSmallerThanTheModulus() throws {
        let key = try PrivateKey.generateRSA()
        guard case .rsa(let modulus, _) = key.publicKey.components else {
            Issue.record("not an RSA key")
            return
        }
        for message in (UInt8.min...).lazy.map({ [$0] }) {
            var carry = 0
            let sum = zip(try key.sign(message), modulus).reversed().map { (digit, other) -> UInt8 in
                carry += Int(digit) + Int(other)
                defer { carry >>= 8 }
                return UInt8(truncatingIfNeeded: carry)
            }
            if carry > 0 { continue }
            #expect(!key.publicKey.verifyRS256(sum.reversed(), of: message))
            return
        }
        Issue.record("no signature left room for the modulus")
    }

    @Test func ellipticCurveSignatures() throws {
        let key = try PrivateKey.generateP256()
        // Many, since r and s begin with zero bytes or a high bit as it happens.
        for number in 0..<300 {
            let message = Array("message \(number)".utf8)
            let signature = try key.sign(message)
            #expect(signature.count == 64)
            #expect(key.publicKey.verifyES256(signature, of: message))
            #expect(!key.publicKey.verifyES256(signature, of: Self.message))
        }
        #expect(try !key.publicKey.verifyRS256(key.sign(Self.message), of: Self.message))
    }

    @Test func otherEllipticCurveSignaturesAreWrong() throws {
        let key = try PrivateKey.generateP256()
        let signature = try key.sign(Self.message)
        let (r, s) = (Array(signature.prefix(32)), Array(signature.suffix(32)))
        let zero = [UInt8](repeating: 0, count: 32)
        let order = bytes("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
        let highest = [UInt8](repeating: 0xFF, count: 32)
        let others = [
            [], Array(signature.dropLast()), signature + [0], [0] + signature, s + r, zero + zero, r + zero, zero + s,
            order + s,
            r + order, highest + highest, [0x30, 0x44, 0x02, 0x20] + r + [0x02, 0x20] + s,
        ]
        for other in others { #expect(!key.publicKey.verifyES256(other, of: Self.message)) }
    }

    // MARK: Sharing and errors

    @Test func threadsShareKeys() async throws {
        for key in [try PrivateKey.generateRSA(), try PrivateKey.generateP256()] {
            let verified = await withTaskGroup(of: Int.self) { group in
                for task in 0..<8 {
                    group.addTask {
                        (0..<25).count { round in
                            let message = Array("\(task) \(round)".utf8)
                            guard let signature = try? key.sign(message) else { return false }
                            return key.publicKey.verifyRS256(signature, of: message)
                                || key.publicKey.verifyES256(signature, of: message)
                        }
                    }
                }
                return await group.reduce(0, +)
            }
            #expect(verified == 200)
        }
    }

    @Test func errorsSayWhatFailedAndLeaveNothingBehind() throws {
        func error(_ pem: String) throws -> OpenSSLError {
            try #require(throws: OpenSSLError.self) { try PrivateKey(pem: pem) }
        }
        let first = try error("x")
        #expect(first.function == "PEM_read_bio_PrivateKey")
        #expect(!first.reasons.isEmpty && first.reasons.allSatisfy { $0.hasPrefix("error:") })
        #expect(first.description.hasPrefix("PEM_read_bio_PrivateKey: error:"))
        #expect(try error("x") == first)

        // A wrong signature leaves nothing in the queue that a later error would show.
        let key = try PrivateKey(pem: Keys.p256)
        #expect(!key.publicKey.verifyES256([UInt8](repeating: 0, count: 64), of: Self.message))
        #expect(try error("x") == first)
        #expect(try error(Keys.ed25519).description == "a key that is neither RSA nor P-256")
    }
}
