import IdentityTokens
import Time

struct Issuers: Sendable {
    static let shared = Result<Issuers, any Error> { Issuers() }
    func verifier(clock: Clock) -> IdentityTokenVerifier {
        IdentityTokenVerifier(providers: [:], cacheDirectory: nil, clock: clock)
    }
}
