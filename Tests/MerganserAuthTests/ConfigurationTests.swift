import Foundation
import MerganserAuth
import Testing

@Suite struct ConfigurationTests {
    private func config(
        clientID: String = "logi_1", redirectURI: String = "myapp://oauth/callback", scopes: [String] = ["openid"],
        issuer: String = "https://id.example.com"
    ) throws -> MerganserConfig {
        MerganserConfig(
            clientID: clientID, redirectURI: redirectURI, scopes: scopes, issuer: try #require(URL(string: issuer)))
    }

    @Test(arguments: [
        ("my_app://callback", ConfigurationFault.schemeUnderscore("my_app")),
        ("https://id.example.com/callback", .issuerHost("id.example.com")),
        ("https://ID.example.com/callback", .issuerHost("ID.example.com")),
        ("http://app.example.com/callback", .plainHTTP), ("javascript:alert(1)", .schemeForbidden("javascript")),
        ("callback", .noScheme), ("myapp://callback#a", .redirectURI),
    ])
    func redirectURIsThatCannotWorkAreRefused(uri: String, fault: ConfigurationFault) throws {
        let config = try config(redirectURI: uri)
        #expect(throws: fault) { try config.check() }
        #expect(throws: fault) { try AuthSession(config, store: InMemoryStore(), browser: Nobody()) }
    }

    @Test(arguments: [
        "myapp://oauth/callback", "com.example.myapp:/callback", "https://app.example.com/callback",
        "http://127.0.0.1:8080/callback",
    ])
    func othersAreNot(uri: String) throws { try config(redirectURI: uri).check() }

    @Test func whatElseIsRefused() throws {
        #expect(throws: ConfigurationFault.noClientID) { try config(clientID: "").check() }
        #expect(throws: ConfigurationFault.scopes) { try config(scopes: []).check() }
        #expect(throws: ConfigurationFault.scopes) { try config(scopes: ["openid email"]).check() }
        #expect(throws: ConfigurationFault.issuer) { try config(issuer: "http://id.example.com").check() }
        #expect(throws: ConfigurationFault.issuer) { try config(issuer: "id.example.com").check() }
        try config(issuer: "http://localhost:8080").check()
    }

    /// One test: the façade is one for the process.
    @Test func theFacadeSaysWhatIsWrong() async throws {
        let callback = try #require(URL(string: "myapp://oauth/callback?code=1&state=2"))
        await #expect(throws: MerganserError.notConfigured) { try await MerganserAuth.signIn() }
        #expect(!MerganserAuth.handle(callback))

        MerganserAuth.configure(try config(redirectURI: "my_app://callback"), store: InMemoryStore())
        let refusal = await #expect(throws: MerganserError.self) { try await MerganserAuth.accessToken() }
        #expect(refusal?.errorDescription?.contains("iOS rejects schemes containing an underscore") == true)
        #expect(refusal?.recoverySuggestion?.contains("com.example.myapp") == true)

        MerganserAuth.configure(try config(), store: InMemoryStore(), browser: Nobody())
        #expect(MerganserAuth.handle(callback))
        #expect(!MerganserAuth.handle(try #require(URL(string: "myapp://other/callback?code=1&state=2"))))
        #expect(!MerganserAuth.handle(try #require(URL(string: "https://id.example.com/"))))
        await #expect(throws: MerganserError.signedOut(.neverSignedIn)) { try await MerganserAuth.accessToken() }
        #expect(try await MerganserAuth.currentRefreshToken() == nil)
        await #expect(throws: MerganserError.userCancelled) { try await MerganserAuth.signIn() }
        for await state in MerganserAuth.states {
            #expect(state == .signedOut(.neverSignedIn))
            break
        }
    }

    private struct Nobody: Browser {
        func open(_ url: URL, returningTo redirectURI: URL) async throws -> URL? { throw MerganserError.userCancelled }
    }
}
