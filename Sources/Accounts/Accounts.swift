import Fetch
package import IdentityTokens
package import Time

/// The identity provider: devices, sessions, linking, swaps, and the OAuth provider that relying parties use.
///
/// This target owns the rules of the accounts specification and their SQL. Each kind of thing has a folder and each
/// rule a file (`SwapAnonymousAccount.swift`); the file's statements are in `…+Store.swift`. The target knows no HTTP:
/// the API decides what a refusal looks like on the wire. Network work, such as fetching key sets, is done before a
/// rule's transaction begins, never inside it.
///
/// Rules throw `Failure` for what the specification refuses, and `MariaDBError` for what the database refuses.
///
/// It is a class because each request would copy its parts.
package final class Accounts: Sendable {
    package let settings: AccountsSettings
    package let serverKey: ServerKey
    package let identityTokens: IdentityTokenVerifier
    package let signingKeys: SigningKeyring
    /// Exchanges Apple's codes and revokes its tokens; nil: codes are ignored.
    package let apple: AppleClient?
    package let clock: Clock

    package init(
        settings: AccountsSettings, serverKey: ServerKey, identityTokens: IdentityTokenVerifier,
        apple: AppleClient? = nil, clock: Clock = .system
    ) {
        self.settings = settings
        self.serverKey = serverKey
        self.identityTokens = identityTokens
        self.apple = apple
        self.clock = clock
        signingKeys = SigningKeyring(serverKey: serverKey, clock: clock)
    }
}

/// What an operator may set (accounts Annex A).
package struct AccountsSettings: Sendable {
    /// The base URL without trailing slash: `iss`, byte for byte.
    package var issuer: String
    /// The lifetime of a PAK; nil if PAKs live until they are revoked.
    package var pakLifetime: Duration?
    package var linkByEmail: LinkByEmail
    /// Whether a new application is active at once; otherwise it waits for the operator's approval.
    package var autoApprovesApplications: Bool
    /// Whether agents may leave their requests unsigned (accounts §4.1).
    package var allowsBearerOnlyAgents: Bool
    /// Whether a sign-in restores a soft-deleted account in its grace; otherwise it is refused (accounts §4.5).
    package var restoresWithinGrace: Bool
    /// How long a merge or swap can be taken back; nil: no journal is kept (accounts Stage 6).
    package var undoWindow: Duration?
    /// Of the export that users ask for; the operator's has no bound.
    package var exportBound: ExportBound
    /// Whether webhooks may be sent to this machine.
    package var isDevelopment: Bool

    package init(
        issuer: String, pakLifetime: Duration? = nil, linkByEmail: LinkByEmail = .authoritative,
        autoApprovesApplications: Bool = false, allowsBearerOnlyAgents: Bool = true, restoresWithinGrace: Bool = false,
        undoWindow: Duration? = .seconds(14 * 86_400), exportBound: ExportBound = .standard, isDevelopment: Bool = false
    ) {
        self.issuer = issuer
        self.pakLifetime = pakLifetime
        self.linkByEmail = linkByEmail
        self.autoApprovesApplications = autoApprovesApplications
        self.allowsBearerOnlyAgents = allowsBearerOnlyAgents
        self.restoresWithinGrace = restoresWithinGrace
        self.undoWindow = undoWindow
        self.exportBound = exportBound
        self.isDevelopment = isDevelopment
    }

    var issuerHost: String { Authority.visited(by: issuer)?.authority.host.description ?? "" }

    package var applicationRules: ApprovedChanges.Rules {
        ApprovedChanges.Rules(issuerHost: issuerHost, isDevelopment: isDevelopment)
    }
}

/// When a sign-in may be matched to an account by its verified e-mail (accounts §1.6).
package enum LinkByEmail: String, Sendable, CaseIterable {
    /// Only if an authoritative provider vouches for the address now, and one did when the account got it.
    case authoritative
    /// Whenever the provider says that it verified the address.
    case verified
    case never

    /// Whether a sign-in may be matched by an address that the provider verified.
    func trusts(isAuthoritative: Bool) -> Bool {
        switch self {
        case .authoritative: isAuthoritative
        case .verified: true
        case .never: false
        }
    }
}
