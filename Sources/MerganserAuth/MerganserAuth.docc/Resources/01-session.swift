import Foundation
import MerganserAuth

/// The user of this phone.
@MainActor final class Onboarding {
    let session: AccountSession

    init(issuer: URL, store: any SecureStore) throws {
        session = try AccountSession(issuer: issuer, platform: .ios, deviceName: "Phone", store: store)
    }
}
