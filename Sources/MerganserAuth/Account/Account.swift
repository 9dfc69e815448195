public import Foundation

/// The user of the server's own app (accounts §1.2).
public struct Account: Codable, Hashable, Sendable {
    /// The user_id at the server.
    public let id: Int
    /// Shown to people; nobody may have verified it.
    public let contactEmail: String?
    /// As the user or a provider gave it.
    public let name: String?
    /// Whether it is a guest.
    public let anonymous: Bool
}

extension Account {
    init(_ profile: Profile) {
        (id, contactEmail, name, anonymous) = (profile.id, profile.contactEmail, profile.name, profile.anonymous)
    }
}

/// Who uses the app, as far as it is known.
public enum AccountState: Hashable, Sendable {
    /// The store cannot tell. Nobody has been signed out.
    case unknown(StoreFault)
    /// Nobody is signed in.
    case signedOut(SignedOutReason)
    /// A user without a provider, bound to this device.
    case guest(Account)
    /// A user who can sign in elsewhere, too.
    case known(Account)
}

/// What a device is, to the server.
public enum DevicePlatform: String, Codable, Sendable {
    /// One of those that the server knows.
    case ios, android, macos, web
}

/// What Apple or Google says of a user who signs in.
public struct ProviderCredential: Hashable, Sendable {
    let provider: String
    let identityToken: String
    let nonce: String
    let fullName: FullName?
    let authorizationCode: String?

    struct FullName: Encodable, Hashable, Sendable {
        let givenName: String?
        let familyName: String?
    }

    /// Sign in with Apple.
    ///
    /// - Parameters:
    ///   - identityToken: what Apple signed.
    ///   - nonce: the raw one, whose SHA-256 the request to Apple had.
    ///   - fullName: what Apple said; it does only once.
    ///   - authorizationCode: what Apple gave beside the token. With it the server can end Apple's consent when the account is
    ///     deleted, as App Review asks.
    public static func apple(
        identityToken: String, nonce: String, fullName: PersonNameComponents? = nil, authorizationCode: String? = nil
    ) -> ProviderCredential {
        ProviderCredential(
            provider: "apple", identityToken: identityToken, nonce: nonce,
            fullName: fullName.map { FullName(givenName: $0.givenName, familyName: $0.familyName) },
            authorizationCode: authorizationCode)
    }

    /// Google Sign-In.
    ///
    /// - Parameters:
    ///   - identityToken: what Google signed.
    ///   - nonce: the raw one, whose SHA-256 the request to Google had.
    public static func google(identityToken: String, nonce: String) -> ProviderCredential {
        ProviderCredential(
            provider: "google", identityToken: identityToken, nonce: nonce, fullName: nil, authorizationCode: nil)
    }
}

// Tokens stay out of logs.
extension ProviderCredential: CustomStringConvertible, CustomReflectable {
    public var description: String { "ProviderCredential(\(provider))" }
    public var customMirror: Mirror { Mirror(self, children: ["provider": provider]) }
}
