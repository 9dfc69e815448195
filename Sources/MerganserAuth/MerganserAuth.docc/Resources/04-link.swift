import Foundation
import MerganserAuth

/// The user of this phone.
@MainActor final class Onboarding {
    let session: AccountSession
    private(set) var account: Account?

    /// For the request to Apple: `request.nonce = onboarding.nonce.digest`.
    private(set) var nonce = SignInNonce()

    init(issuer: URL, store: any SecureStore) throws {
        session = try AccountSession(issuer: issuer, platform: .ios, deviceName: "Phone", store: store)
    }

    func start() async throws {
        account = try await session.bootstrap()
    }

    func signedIn(identityToken: String) async throws {
        let credential = ProviderCredential.apple(identityToken: identityToken, nonce: nonce.raw)
        nonce = SignInNonce()
        switch try await session.link(credential) {
        case .linked(let known): account = known
        case .ownedByAnotherAccount: break
        }
    }
}
