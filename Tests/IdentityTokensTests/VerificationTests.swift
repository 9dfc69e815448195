import IdentityTokens
import JSON
import TestSupport
import Testing
import Time

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

    @Test func goodTokenIsBelieved() throws {
        let token = issuer.token(
            subject: "001", email: "a@example.com", emailVerified: "true",
            extra: ["is_private_email": true, "hd": "example.com"])
        #expect(
            try verify(token)
                == IdentityToken(
                    provider: .apple, subject: "001", email: "a@example.com", emailVerified: true, isPrivateEmail: true,
                    hostedDomain: "example.com", issuedAt: clock.now))
    }
}
