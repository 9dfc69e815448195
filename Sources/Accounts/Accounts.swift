import Fetch
package import IdentityTokens
package import Time

/// The identity provider: devices, sessions, linking, the swap and what they leave behind.
///
/// This target owns the rules of the accounts specification and the SQL beside them: a folder for each kind of thing, a
/// file for each rule (`SwapAnonymousAccount.swift`), its statements in `…+Store.swift`. It knows no HTTP: what a
/// refusal looks like on the wire is the API's business. Network work (fetching key sets) is done before a rule's
/// transaction begins, never inside it.
///
/// Rules throw `Failure` for what the specification refuses and `MariaDBError` for what the database refuses.
package struct Accounts: Sendable {
    package let settings: AccountsSettings
    package let serverKey: ServerKey
    package let identityTokens: IdentityTokenVerifier
    package let signingKeys: SigningKeyring
    package let clock: Clock

    package init(
        settings: AccountsSettings, serverKey: ServerKey, identityTokens: IdentityTokenVerifier, clock: Clock = .system
    ) {
        self.settings = settings
        self.serverKey = serverKey
        self.identityTokens = identityTokens
        self.clock = clock
        signingKeys = SigningKeyring(serverKey: serverKey, clock: clock)
    }
}

/// What an operator may set (accounts Annex A).
package struct AccountsSettings: Sendable {
    /// The base URL without trailing slash: `iss`, byte for byte.
    package var issuer: String
    /// The lifetime of a PAK; nil: until revoked.
    package var pakLifetime: Duration?
    package var linkByEmail: LinkByEmail
    /// Whether developers' applications are active at once, instead of waiting for the operator.
    package var autoApprovesApplications: Bool
    /// Whether webhooks may go to this machine.
    package var isDevelopment: Bool

    package init(
        issuer: String, pakLifetime: Duration? = nil, linkByEmail: LinkByEmail = .authoritative,
        autoApprovesApplications: Bool = false, isDevelopment: Bool = false
    ) {
        self.issuer = issuer
        self.pakLifetime = pakLifetime
        self.linkByEmail = linkByEmail
        self.autoApprovesApplications = autoApprovesApplications
        self.isDevelopment = isDevelopment
    }

    var issuerHost: String { Authority.visited(by: issuer)?.authority.host.description ?? "" }

    package var applicationRules: ApprovedChanges.Rules {
        ApprovedChanges.Rules(issuerHost: issuerHost, isDevelopment: isDevelopment)
    }
}

/// When a sign-in may be matched to an account by its verified e-mail (accounts §1.6).
package enum LinkByEmail: String, Sendable, CaseIterable {
    /// Only if a provider with the last word on the address vouches for it now, and one did when the account got it.
    case authoritative
    /// Whenever the provider says it verified the address.
    case verified
    case never

    /// Whether an address decides that a provider verified.
    func trusts(isAuthoritative: Bool) -> Bool {
        switch self {
        case .authoritative: isAuthoritative
        case .verified: true
        case .never: false
        }
    }
}
