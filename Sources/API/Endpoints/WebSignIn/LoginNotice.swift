import ErrorCodes
import HTTP
import IdentityTokens
import Pages
import Time

/// Notices of the login page, as they are written in its URL.
extension LoginPage.Notice {
    private static let purgeAt = "purge_at"

    /// Reads the notice from the query; nil if there is none.
    init?(_ parameters: QueryParameters) {
        switch parameters.comparable("error") {
        case "cancelled": self = .cancelled
        case "failed": self = .failed
        case "unavailable": self = .unavailable
        case "not_approved": self = .notApproved
        case ErrorCode.accountDeleted.rawValue:
            guard let seconds = parameters[Self.purgeAt].flatMap(Int64.init), (0..<1 << 34).contains(seconds) else {
                return nil
            }
            self = .accountDeleted(purgeAt: Timestamp(seconds: seconds))
        case let code?:
            let isMeant = { (provider: Provider) in code == ErrorCode.emailLinkedToOther(provider).rawValue }
            guard let provider = Provider.allCases.first(where: isMeant) else { return nil }
            self = .linkedToOtherAccount(provider)
        case nil: return nil
        }
    }

    /// Writes the notice as a query.
    var query: String {
        switch self {
        case .cancelled: "error=cancelled"
        case .failed: "error=failed"
        case .unavailable: "error=unavailable"
        case .notApproved: "error=not_approved"
        case .accountDeleted(let purgeAt):
            "error=\(ErrorCode.accountDeleted.rawValue)&\(Self.purgeAt)=\(purgeAt.seconds)"
        case .linkedToOtherAccount(let provider): "error=\(ErrorCode.emailLinkedToOther(provider).rawValue)"
        }
    }
}
