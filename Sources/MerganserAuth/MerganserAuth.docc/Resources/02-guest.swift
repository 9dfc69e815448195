import Foundation
import MerganserAuth

/// The user of this phone.
@MainActor final class Onboarding {
    let session: AccountSession
    private(set) var account: Account?

    init(issuer: URL, store: any SecureStore) throws {
        session = try AccountSession(issuer: issuer, platform: .ios, deviceName: "Phone", store: store)
    }

    func start() async throws {
        account = try await session.bootstrap()
    }
}
