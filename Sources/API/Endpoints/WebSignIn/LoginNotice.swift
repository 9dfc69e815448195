import HTTP
import IdentityTokens
import Time

/// What went wrong, in the address of the login page.
extension LoginPage.Notice {
    private static let purgeAt = "purge_at"

    /// What the address of the page says went wrong.
    init?(_ parameters: QueryParameters) {
        switch parameters["error"] {
        case "cancelled": self = .cancelled
        case "failed": self = .failed
        case "unavailable": self = .unavailable
        case "account_deleted":
            guard let seconds = parameters[Self.purgeAt].flatMap(Int64.init), (0..<1 << 34).contains(seconds) else {
                return nil
            }
            self = .accountDeleted(purgeAt: Timestamp(seconds: seconds))
        case let code?:
            guard let provider = Provider.allCases.first(where: { code == Self.code(linkedTo: $0) }) else { return nil }
            self = .linkedToOtherAccount(provider)
        case nil: return nil
        }
    }

    /// The same as a query.
    var query: String {
        switch self {
        case .cancelled: "error=cancelled"
        case .failed: "error=failed"
        case .unavailable: "error=unavailable"
        case .accountDeleted(let purgeAt): "error=account_deleted&\(Self.purgeAt)=\(purgeAt.seconds)"
        case .linkedToOtherAccount(let provider): "error=\(Self.code(linkedTo: provider))"
        }
    }

    private static func code(linkedTo provider: Provider) -> String {
        "email_linked_to_other_\(provider.rawValue)_account"
    }
}
