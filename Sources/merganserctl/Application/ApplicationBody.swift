import Accounts
import JSON
import Time

struct ApplicationBody: Encodable {
    let id: Application.ID
    let clientID: String
    let name: String
    let clientType: String
    let redirectURIs: [String]
    let postLogoutRedirectURIs: [String]
    let allowedScopes: [String]
    let status: String
    @Nullable var appLinkURL: String?
    @Nullable var webhookURL: String?
    @Nullable var webhookEvents: [String]?
    @Nullable var webhookDisabledAt: String?
    @Nullable var backchannelLogoutURI: String?
    let scopePolicy: String
    let allowAnonymousGrants: Bool
    let notifyAnonymousSwap: Bool
    let firstParty: Bool
    let linkedSubDetails: Bool
    @Nullable var ownerUserID: User.ID?
    let createdAt: String
    let liveGrants: Int
    @Nullable var pendingChanges: JSONValue?
    /// The value that `approve` and `refuse` take.
    let revision: String
    /// Pending values beside the values in effect, one line each.
    private let comparison: [String]

    init(_ application: RegisteredApplication, liveGrants: Int) {
        id = application.id
        clientID = application.clientID
        name = application.name
        clientType = application.clientType.rawValue
        redirectURIs = application.redirectURIs
        postLogoutRedirectURIs = application.postLogoutRedirectURIs
        allowedScopes = application.allowedScopes.names
        status = application.status.rawValue
        appLinkURL = application.appLinkURL
        webhookURL = application.webhookURL
        webhookEvents = application.webhookEvents
        webhookDisabledAt = application.webhookDisabledAt?.iso8601
        backchannelLogoutURI = application.backchannelLogoutURI
        scopePolicy = application.scopePolicy.rawValue
        allowAnonymousGrants = application.allowAnonymousGrants
        notifyAnonymousSwap = application.notifyAnonymousSwap
        firstParty = application.firstParty
        linkedSubDetails = application.linkedSubDetails
        ownerUserID = application.owner
        createdAt = application.createdAt.iso8601
        self.liveGrants = liveGrants
        pendingChanges = application.pendingChanges.isEmpty ? nil : application.pendingChanges.json
        revision = application.revision
        comparison = Self.compare(application)
    }

    /// The application after an operation on it.
    static func after(_ operation: (AccountsTransaction) throws -> RegisteredApplication) throws -> ApplicationBody {
        try Accounts.write(Environment.database(), from: .command) { transaction in
            let application = try operation(transaction)
            return ApplicationBody(application, liveGrants: try transaction.connection.liveGrants(of: application.id))
        }
    }

    private enum CodingKeys: CodingKey {
        case id, clientID, name, clientType, redirectURIs, postLogoutRedirectURIs, allowedScopes, status, appLinkURL
        case webhookURL, webhookEvents, webhookDisabledAt, backchannelLogoutURI, scopePolicy, allowAnonymousGrants
        case notifyAnonymousSwap, firstParty, linkedSubDetails, ownerUserID, createdAt, liveGrants, pendingChanges,
            revision
    }

    var words: String {
        """
        client_id      \(clientID)
        name           \(name)
        type           \(clientType)
        status         \(status)
        owner          \(ownerUserID.map { "user \($0.rawValue)" } ?? "the operator")
        redirect URIs  \(redirectURIs.joined(separator: "\n               "))
        after sign-out \(postLogoutRedirectURIs.isEmpty ? "none" : postLogoutRedirectURIs.joined(separator: "\n               "))
        scopes         \(allowedScopes.joined(separator: " "))
        scope policy   \(scopePolicy)
        app link       \(appLinkURL ?? "none")
        webhook        \(webhookURL ?? "none")\(webhookDisabledAt.map { "; disabled since \($0)" } ?? "")
        event types    \(webhookEvents.map { $0.joined(separator: " ") } ?? "all")
        sign-out       \(backchannelLogoutURI ?? "none")
        flags          \(flags.isEmpty ? "none" : flags.joined(separator: " "))
        live grants    \(liveGrants)
        created        \(createdAt)
        revision       \(revision)
        pending        \(comparison.isEmpty ? "nothing" : comparison.joined(separator: "\n               "))
        """
    }

    /// `- ` marks a value that approval would remove, `+ ` one that it would add.
    private static func compare(_ application: RegisteredApplication) -> [String] {
        application.pendingChanges.members.flatMap { member -> [String] in
            let (now, then) = (application.judged.lines(of: member), application.pendingChanges.lines(of: member))
            return ["\(member.rawValue):"]
                + now.map { (then.contains($0) ? "  " : "- ") + ($0.string ?? "none") }
                + then.filter { !now.contains($0) }.map { "+ " + ($0.string ?? "none") }
        }
    }

    private var flags: [String] {
        [
            allowAnonymousGrants ? "allow_anonymous_grants" : nil, notifyAnonymousSwap ? "notify_anonymous_swap" : nil,
            firstParty ? "first_party" : nil, linkedSubDetails ? "linked_sub_details" : nil,
        ].compactMap { $0 }
    }
}

extension PendingChanges {
    /// As JSON, which is compared byte for byte.
    fileprivate func lines(of member: Member) -> [JSONValue] {
        guard let value = values[member] else { return [] }
        return value.array ?? [value]
    }
}
