import IdentityTokens
import JOSE
import JSON
import OpenSSL
import TestSupport
import Testing
import Text
import Time

/// Every row of the table of checks, and known attacks on verifiers.
@Suite struct VerificationTests {
    private let clock = TestClock()
    private let issuer: TestIssuer
    private let verifier: IdentityTokenVerifier

    init() {
        issuer = TestIssuer(.apple, clock: clock.clock)
        verifier = TestIssuer.verifier(issuer, TestIssuer(.google, clock: clock.clock), clock: clock.clock)
    }

    private func verify(_ token: String, rawNonce: String = "nonce") throws -> IdentityToken {
        try verifier.verify(token, rawNonce: rawNonce, provider: .apple)
    }

    private func expect(
        _ reason: InvalidIdentityToken.Reason, _ token: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(throws: InvalidIdentityToken(reason), sourceLocation: sourceLocation) { try verify(token) }
    }

    /// A valid token with changed claims; nil removes one.
    private func token(_ changes: [String: JSONValue?]) -> String {
        var claims = issuer.claims()
        for (name, value) in changes { claims[name] = value }
        return TestIssuer.token(header: TestIssuer.header(TestIssuer.rsa), claims: claims, TestIssuer.rsa)
    }

    private func token(header changes: [String: JSONValue?], _ signer: Signer = TestIssuer.rsa) -> String {
        var header = TestIssuer.header(signer)
        for (name, value) in changes { header[name] = value }
        return TestIssuer.token(header: header, claims: issuer.claims(), signer)
    }

    private var now: Int64 { clock.now.seconds }

    // MARK: Believed

    @Test func goodTokenIsBelieved() throws {
        let token = issuer.token(
            subject: "001", email: "a@example.com", emailVerified: "true",
            extra: ["is_private_email": true, "hd": "example.com"])
        #expect(
            try verify(token)
                == IdentityToken(
                    provider: .apple, subject: "001", email: "a@example.com", emailVerified: true, isPrivateEmail: true,
                    hostedDomain: "example.com", issuedAt: clock.now, audience: issuer.audience))
    }

    @Test func tokenWithLittleIsBelieved() throws {
        #expect(
            try verify(token([:]))
                == IdentityToken(
                    provider: .apple, subject: "subject", issuedAt: clock.now, audience: issuer.audience))
    }

    @Test func ellipticCurveTokenIsBelieved() throws {
        #expect(try verify(issuer.token(alg: .es256)).subject == "subject")
    }

    @Test func sameTokenIsBelievedTwice() throws {
        let token = issuer.token()
        #expect(try verify(token) == verify(token))
    }

    @Test func bothGoogleIssuersAreBelieved() throws {
        let google = TestIssuer(.google, clock: clock.clock)
        var settings = google.settings()
        settings.issuers = Provider.google.defaults.issuers
        let verifier = IdentityTokenVerifier(
            providers: [.google: settings], cacheDirectory: nil, clock: clock.clock,
            initialKeySets: [.google: google.keySetJSON])
        for issuer in ["https://accounts.google.com", "accounts.google.com"] {
            let token = google.token(issuer: issuer)
            #expect(try verifier.verify(token, rawNonce: "nonce", provider: .google).provider == .google)
        }
    }

    // MARK: Form

    @Test(arguments: ["", ".", "..", "...", "a.b", "e30.e30", "e30.e30.AAAA.AAAA", "{}", "한.é.한"])
    func textThatIsNoTokenIsMalformed(text: String) {
        expect(.malformedToken, text)
    }

    @Test func everyPartMustBeStrictBase64URL() {
        let parts = issuer.token().split(separator: ".")
        for index in parts.indices {
            for suffix in ["=", "==", " ", "\n", "\u{0}", "+", "/", "é"] {
                var changed = parts.map(String.init)
                changed[index] += suffix
                expect(.malformedToken, changed.joined(separator: "."))
                changed[index] = suffix + parts[index]
                expect(.malformedToken, changed.joined(separator: "."))
            }
        }
    }

    @Test func bitsBehindTheSignatureAreMalformed() throws {
        // 256 bytes take 342 characters, and leave four bits of the last one.
        var token = issuer.token()
        let last = token.removeLast()
        let next = Character(Unicode.Scalar((last.asciiValue ?? 0) + 1))
        expect(.malformedToken, token + String(next))
    }

    @Test(arguments: ["[]", "\"a\"", "null", "1", "", "{", "{}x", "\u{FEFF}{}", "{\"a\":1,}", "{}{}", "{'a':1}"])
    func headerAndPayloadMustBeJSONObjects(text: String) throws {
        let part = Base64URL.encode(Array(text.utf8))
        let parts = issuer.token().split(separator: ".").map(String.init)
        expect(.malformedToken, [part, parts[1], parts[2]].joined(separator: "."))
        expect(
            .malformedToken,
            try TestIssuer.rsa.sign(header: TestIssuer.header(TestIssuer.rsa), payload: Array(text.utf8)))
    }

    @Test func payloadThatIsNotUTF8IsMalformed() throws {
        let payload = Array("{\"sub\":\"".utf8) + [0xC3, 0x28] + Array("\"}".utf8)
        expect(.malformedToken, try TestIssuer.rsa.sign(header: TestIssuer.header(TestIssuer.rsa), payload: payload))
    }

    @Test func deepPayloadIsMalformed() throws {
        let nested = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        let payload = Array("{\"a\":\(nested)}".utf8)
        expect(.malformedToken, try TestIssuer.rsa.sign(header: TestIssuer.header(TestIssuer.rsa), payload: payload))
    }

    @Test(arguments: [["exp"], [], "exp", .null, ["b64"]] as [JSONValue])
    func criticalExtensionsAreMalformed(value: JSONValue) {
        expect(.malformedToken, token(header: ["crit": value]))
    }

    @Test func sizeIsLimited() throws {
        func padded(_ size: Int) -> String {
            let bare = token(["pad": ""]).utf8.count
            // Four characters of the token hold three of the payload.
            var padding = (size - bare) * 3 / 4
            while token(["pad": .string(String(repeating: "x", count: padding))]).utf8.count < size { padding += 1 }
            return token(["pad": .string(String(repeating: "x", count: padding))])
        }
        let largest = padded(16_384)
        try #require(largest.utf8.count == 16_384)
        #expect(try verify(largest).subject == "subject")
        expect(.malformedToken, padded(16_386))
        expect(.malformedToken, padded(17 * 1024))
    }

    // MARK: Algorithm

    @Test(arguments: [
        "none", "None", "NONE", "nOnE", "HS256", "HS384", "HS512", "RS384", "RS512", "PS256", "ES384", "ES512",
        "ES256K",
        "EdDSA", "rs256", "RS256 ", "RSA-OAEP", "dir", "",
    ])
    func otherAlgorithmsAreUnsupported(name: String) {
        expect(.unsupportedAlgorithm, token(header: ["alg": .string(name)]))
        // Without a signature, too, as with "none" (RFC 7515, appendix A.5).
        let parts = token(header: ["alg": .string(name)]).split(separator: ".")
        expect(.unsupportedAlgorithm, "\(parts[0]).\(parts[1]).")
    }

    @Test(arguments: [nil, .null, 1, true, ["RS256"], ["RS256": "RS256"]] as [JSONValue?])
    func algorithmMustBeAString(value: JSONValue?) {
        expect(.unsupportedAlgorithm, token(header: ["alg": value]))
    }

    /// The classic confusion: a MAC whose key is the public key's bytes.
    @Test func publicKeyIsNoSecret() throws {
        guard case .rsa(let modulus, let exponent) = TestIssuer.rsa.jwk.key.components else {
            Issue.record("not an RSA key")
            return
        }
        let secrets = [
            modulus, exponent, modulus + exponent, TestIssuer.rsa.jwk.json(), issuer.keySetJSON, Array("rsa".utf8), [],
        ]
        for secret in secrets {
            let header: [String: JSONValue] = ["alg": "HS256", "kid": "rsa"]
            let input = Base64URL.encode(header.json()) + "." + Base64URL.encode(issuer.claims().json())
            let mac = hmacSHA256(key: secret, Array(input.utf8))
            expect(.unsupportedAlgorithm, "\(input).\(Base64URL.encode(mac))")
        }
    }

    @Test func algorithmMustBeTheKeysOwn() {
        expect(.unsupportedAlgorithm, token(header: ["alg": "ES256"]))
        expect(.unsupportedAlgorithm, token(header: ["alg": "RS256"], TestIssuer.p256))
        expect(.unsupportedAlgorithm, token(header: ["kid": "p256"]))
        expect(.unsupportedAlgorithm, token(header: ["kid": "rsa"], TestIssuer.p256))
    }

    @Test func lastOfRepeatedHeaderMembersCounts() throws {
        let payload = issuer.claims().json()
        func token(_ header: String) throws -> String {
            let input = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(payload)
            let signed = try TestIssuer.rsa.sign(header: TestIssuer.header(TestIssuer.rsa), payload: payload)
            return "\(input).\(signed.split(separator: ".")[2])"
        }
        expect(.unsupportedAlgorithm, try token(#"{"alg":"RS256","kid":"rsa","alg":"none"}"#))
        expect(.unknownKey, try token(#"{"alg":"RS256","kid":"rsa","kid":"other"}"#))
        expect(.badSignature, try token(#"{"alg":"none","kid":"other","alg":"RS256","kid":"rsa"}"#))
    }

    // MARK: Key

    @Test(arguments: [nil, .null, "", 1, ["rsa"], "other", "rsa ", "RSA", "rsa\u{0}"] as [JSONValue?])
    func keyMustBeNamedAndKnown(kid: JSONValue?) {
        expect(.unknownKey, token(header: ["kid": kid]))
    }

    @Test func keysBroughtAlongAreNotUsed() throws {
        let own = try JSONValue(json: TestIssuer.otherRSA.jwk.json())
        let header: [String: JSONValue?] = [
            "kid": "rsa-2", "jwk": own, "jku": "https://example.com/keys", "x5u": "https://example.com/x5u",
            "x5c": ["MII"],
        ]
        expect(.unknownKey, token(header: header, TestIssuer.otherRSA))
        expect(.badSignature, token(header: header.merging(["kid": "rsa"]) { $1 }, TestIssuer.otherRSA))
        // They do no harm beside a key that is known.
        #expect(try verify(token(header: header.merging(["kid": "rsa"]) { $1 })).subject == "subject")
    }

    @Test func keyNamesAreComparedByteForByte() {
        let composed = Signer(keyID: "\u{E9}", key: TestIssuer.key)
        let decomposed = Signer(keyID: "e\u{301}", key: TestIssuer.key)
        issuer.publish([composed])
        let verifier = TestIssuer.verifier(issuer, clock: clock.clock)
        #expect(throws: Never.self) {
            try verifier.verify(token(header: [:], composed), rawNonce: "nonce", provider: .apple)
        }
        #expect(throws: InvalidIdentityToken(.unknownKey)) {
            try verifier.verify(token(header: [:], decomposed), rawNonce: "nonce", provider: .apple)
        }
    }

    @Test func keysThatShareANameAreNotUsed() {
        let twin = Signer(keyID: "rsa", key: TestIssuer.otherKey)
        issuer.publish([TestIssuer.rsa, twin, TestIssuer.p256])
        let verifier = TestIssuer.verifier(issuer, clock: clock.clock)
        for signer in [TestIssuer.rsa, twin] {
            #expect(throws: InvalidIdentityToken(.unknownKey)) {
                try verifier.verify(token(header: [:], signer), rawNonce: "nonce", provider: .apple)
            }
        }
        #expect(throws: Never.self) {
            try verifier.verify(issuer.token(alg: .es256), rawNonce: "nonce", provider: .apple)
        }
    }

    @Test func providersDoNotShareKeysOrIssuers() {
        let token = issuer.token()
        #expect(throws: InvalidIdentityToken(.wrongIssuer)) {
            try verifier.verify(token, rawNonce: "nonce", provider: .google)
        }
    }

    // MARK: Signature

    @Test func changedTokenHasABadSignature() throws {
        let parts = issuer.token().split(separator: ".").map(String.init)
        var claims = issuer.claims()
        claims["sub"] = "somebody else"
        let payload = Base64URL.encode(claims.json())
        expect(.badSignature, "\(parts[0]).\(payload).\(parts[2])")
        let header = Base64URL.encode(Array(#"{"kid":"rsa", "alg":"RS256"}"#.utf8))
        expect(.badSignature, "\(header).\(parts[1]).\(parts[2])")
    }

    @Test func otherSignaturesAreBad() throws {
        let parts = issuer.token().split(separator: ".").map(String.init)
        let good = try #require(Base64URL.decode(parts[2]))
        let candidates: [[UInt8]] = [
            [], [0], [UInt8](repeating: 0, count: 256), [UInt8](repeating: 255, count: 256), good.dropLast(),
            good + [0],
            [0] + good, good.reversed(), good + good,
        ]
        for signature in candidates {
            expect(.badSignature, "\(parts[0]).\(parts[1]).\(Base64URL.encode(signature))")
        }
        expect(.badSignature, token(header: ["kid": "rsa"], TestIssuer.otherRSA))
        expect(.badSignature, "\(parts[0]).\(parts[1]).\(token([:]).split(separator: ".")[2].dropLast(4))AAAA")
    }

    @Test func otherECDSASignaturesAreBad() throws {
        let parts = issuer.token(alg: .es256).split(separator: ".").map(String.init)
        let good = try #require(Base64URL.decode(parts[2]))
        try #require(good.count == 64)
        let zero = [UInt8](repeating: 0, count: 32)
        let order: [UInt8] = [
            0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xBC, 0xE6, 0xFA, 0xAD,
            0xA7,
            0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
        ]
        let (r, s) = (Array(good.prefix(32)), Array(good.suffix(32)))
        let der = [0x30, 0x44, 0x02, 0x20] + r + [0x02, 0x20] + s
        let candidates: [[UInt8]] = [
            [], zero + zero, zero + s, r + zero, order + s, r + order, [UInt8](repeating: 255, count: 64),
            good.dropLast(),
            good + [0], s + r, der,
        ]
        for signature in candidates {
            expect(.badSignature, "\(parts[0]).\(parts[1]).\(Base64URL.encode(signature))")
        }
    }

    // MARK: Claims

    private static let wrongTypes: [JSONValue?] = [
        nil, .null, true, false, 1, 1.5, [], ["x"], [1], [:], ["x": "y"], "", " ",
    ]

    @Test(
        arguments: wrongTypes + [
            "https://appleid.apple.com/", "http://appleid.apple.com", "https://appleid.apple.com ", "appleid.apple.com",
            "https://APPLEID.apple.com", "https://accounts.google.com", "https://appleid.apple.com\u{0}",
            ["https://appleid.apple.com"],
        ])
    func issuerMustBeTheProviders(value: JSONValue?) {
        expect(.wrongIssuer, token(["iss": value]))
    }

    @Test(
        arguments: wrongTypes + [
            "com.example.other", "com.example.app ", "COM.EXAMPLE.APP", ["com.example.other"], ["com.example.app", 1],
            ["com.example.app", "com.example.other"], ["com.example.app", "com.example.app"],
        ])
    func audienceMustBeConfigured(value: JSONValue?) {
        expect(.wrongAudience, token(["aud": value]))
    }

    @Test func severalAudiencesNeedAnAuthorizedParty() throws {
        let several: JSONValue = ["com.example.other", "com.example.app"]
        #expect(try verify(token(["aud": several, "azp": "com.example.app"])).subject == "subject")
        for azp in Self.wrongTypes + ["com.example.other", ["com.example.app"]] {
            expect(.wrongAudience, token(["aud": several, "azp": azp]))
        }
        expect(.wrongAudience, token(["aud": ["com.example.other", "x"], "azp": "com.example.app"]))
        #expect(try verify(token(["aud": ["com.example.app"]])).subject == "subject")
        // Google names the web client here when an app asks for a server's token.
        #expect(try verify(token(["azp": "com.example.other"])).subject == "subject")
    }

    @Test func noAudienceConfiguredMeansNoToken() {
        var settings = issuer.settings()
        settings.audiences = []
        let verifier = IdentityTokenVerifier(
            providers: [.apple: settings], cacheDirectory: nil, clock: clock.clock,
            initialKeySets: [.apple: issuer.keySetJSON])
        #expect(throws: InvalidIdentityToken(.wrongAudience)) {
            try verifier.verify(issuer.token(), rawNonce: "nonce", provider: .apple)
        }
    }

    @Test func timesHaveALeewayOfAMinute() throws {
        #expect(try verify(token(["exp": .integer(now - 59)])).subject == "subject")
        expect(.expired, token(["exp": .integer(now - 60)]))
        #expect(try verify(token(["iat": .integer(now + 60)])).subject == "subject")
        expect(.notYetValid, token(["iat": .integer(now + 61)]))
        #expect(try verify(token(["nbf": .integer(now + 60)])).subject == "subject")
        expect(.notYetValid, token(["nbf": .integer(now + 61)]))
    }

    @Test func timesMayHaveFractions() throws {
        let token = token(["exp": .number(Double(now) + 0.5), "iat": .number(Double(now) - 0.25), "nbf": 0.5])
        #expect(try verify(token).issuedAt == clock.now - .milliseconds(250))
    }

    @Test func timesMustBeNumbers() {
        let text = JSONValue.string(String(now))
        for value in [nil, .null, true, [], [:], "", text] as [JSONValue?] {
            expect(.expired, token(["exp": value]))
            expect(.notYetValid, token(["iat": value]))
            if value != nil { expect(.notYetValid, token(["nbf": value])) }
        }
    }

    @Test func extremeTimesAreJudged() {
        for value in [0, -1, -1e300, 1e-300, .integer(.min)] as [JSONValue] { expect(.expired, token(["exp": value])) }
        for value in [1e300, .integer(.max)] as [JSONValue] {
            #expect(throws: Never.self) { try verify(token(["exp": value])) }
            expect(.notYetValid, token(["iat": value]))
            expect(.notYetValid, token(["nbf": value]))
        }
    }

    @Test func nonceMayBeHexOrBase64URL() throws {
        let raw = "raw-nonce-한글"
        let digest = sha256(raw.utf8)
        for nonce in [TestIssuer.hexDigest(raw), Base64URL.encode(digest)] {
            #expect(try verify(token(["nonce": .string(nonce)]), rawNonce: raw).subject == "subject")
        }
    }

    @Test func otherNoncesDoNotMatch() {
        let hex = TestIssuer.hexDigest("nonce")
        let base64URL = Base64URL.encode(sha256("nonce".utf8))
        let others: [JSONValue?] = [
            "nonce", .string(hex.uppercased()), .string(hex + " "), .string(String(hex.dropLast())),
            .string(base64URL + "="), .string(TestIssuer.hexDigest("Nonce")), .string(TestIssuer.hexDigest(hex)),
            [.string(hex)],
        ]
        for value in Self.wrongTypes + others { expect(.nonceMismatch, token(["nonce": value])) }
    }

    @Test func rawNonceIsNeverAccepted() {
        // Somebody with a stolen token sees its nonce and sends it as the raw one.
        let hex = TestIssuer.hexDigest("nonce")
        #expect(throws: InvalidIdentityToken(.nonceMismatch)) {
            try verify(token(["nonce": .string(hex)]), rawNonce: hex)
        }
    }

    @Test func subjectMustBeAShortString() throws {
        for value in Self.wrongTypes.filter({ $0 != " " }) { expect(.missingSubject, token(["sub": value])) }
        #expect(try verify(token(["sub": .string(String(repeating: "x", count: 255))])).subject.count == 255)
        expect(.missingSubject, token(["sub": .string(String(repeating: "x", count: 256))]))
        expect(.missingSubject, token(["sub": .string(String(repeating: "한", count: 86))]))
    }

    @Test(
        arguments: [
            (true, true), ("true", true), (false, false), ("false", false), ("TRUE", false), ("", false), (1, false),
            (0, false),
            (.null, false), ([true], false), (["true": true], false), (1.5, false),
        ] as [(JSONValue, Bool)])
    func flagsMayBeBooleansOrTheirNames(value: JSONValue, isTrue: Bool) throws {
        let token = try verify(
            token(["email": "a@example.com", "email_verified": value, "is_private_email": value]))
        #expect(token.emailVerified == isTrue)
        #expect(token.isPrivateEmail == isTrue)
    }

    @Test(arguments: [nil, .null, "", 1, true, ["a@example.com"], ["a": "b"]] as [JSONValue?])
    func somethingElseThanAnAddressIsNone(value: JSONValue?) throws {
        let token = try verify(token(["email": value, "email_verified": true, "hd": ["example.com"]]))
        #expect(token.email == nil)
        #expect(!token.emailVerified)
        #expect(token.hostedDomain == nil)
    }

    /// From the n-th check on, everything is wrong. The first failed check is reported.
    @Test func checksComeInTheirOrder() {
        let faults: [(String, JSONValue?, InvalidIdentityToken.Reason)] = [
            ("iss", "x", .wrongIssuer), ("aud", "x", .wrongAudience), ("exp", 0, .expired),
            ("iat", .integer(now + 1000), .notYetValid), ("nonce", "x", .nonceMismatch), ("sub", nil, .missingSubject),
        ]
        for start in faults.indices {
            let changes = Dictionary(uniqueKeysWithValues: faults[start...].map { ($0.0, $0.1) })
            expect(faults[start].2, token(changes))
            let claims = issuer.claims().merging(changes.compactMapValues { $0 }) { $1 }
            let header = TestIssuer.header(TestIssuer.rsa)
            expect(.badSignature, TestIssuer.token(header: header, claims: claims, TestIssuer.otherRSA))
            expect(
                .unknownKey,
                TestIssuer.token(header: header.merging(["kid": "x"]) { $1 }, claims: claims, TestIssuer.otherRSA))
            expect(
                .unsupportedAlgorithm,
                TestIssuer.token(header: ["alg": "none", "kid": "x"], claims: claims, TestIssuer.otherRSA))
            expect(.malformedToken, TestIssuer.token(header: ["crit": []], claims: claims, TestIssuer.otherRSA))
        }
    }

    @Test func descriptionsAreTheSpecifiedOnes() {
        #expect(
            InvalidIdentityToken.Reason.allCases.map(\.rawValue) == [
                "malformed token", "unsupported alg", "unknown key", "bad signature", "wrong issuer", "wrong audience",
                "expired", "not yet valid", "nonce mismatch", "missing sub",
            ])
    }
}
