import Configuration
import Glibc
import IdentityTokens

/// Whether the providers' key sets can be fetched from here.
struct KeySetChecks {
    let findings: [Finding]

    init(_ configuration: Configuration) {
        let verifier = IdentityTokenVerifier(providers: configuration.providers, cacheDirectory: nil)
        verifier.start()
        defer { verifier.stop() }
        // A fetch takes at most 5 s.
        let deadline = ContinuousClock.now + .seconds(7)
        while verifier.status.values.contains(where: { !$0.isReady && $0.lastError == nil }),
            ContinuousClock.now < deadline
        {
            usleep(10_000)
        }
        findings = verifier.status.sorted { $0.key.rawValue < $1.key.rawValue }.map { provider, status in
            let url = configuration.providers[provider]?.jwksURL ?? ""
            return status.isReady
                ? .ok("key set", "\(provider.rawValue): \(status.keyCount) keys from \(url)")
                : .fail(
                    "key set",
                    "\(provider.rawValue): \(status.lastError ?? "no answer in time"); if no older key set is kept, "
                        + "its sign-ins are answered 503, and all other requests are served",
                    "make \(url) reachable from this machine, or correct "
                        + "MERGANSER_\(provider.rawValue.uppercased())_JWKS_URL")
        }
    }
}
