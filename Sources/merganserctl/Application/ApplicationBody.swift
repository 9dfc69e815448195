import AccountReplies
import Accounts
import JSON
import Time

/// An application as administrators see it, with the number of its users.
struct ApplicationBody: Encodable {
    let application: RegisteredApplication
    let liveGrants: Int

    /// The application after an operation on it.
    static func after(_ operation: (AccountsTransaction) throws -> RegisteredApplication) throws -> ApplicationBody {
        try Accounts.write(Environment.database(), from: .command) { transaction in
            let application = try operation(transaction)
            return ApplicationBody(
                application: application, liveGrants: try transaction.connection.liveGrants(of: application.id))
        }
    }

    private enum CodingKeys: CodingKey {
        case liveGrants
    }

    func encode(to encoder: any Encoder) throws {
        try ApplicationReply.forAdministrators(application).encode(to: encoder)
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(liveGrants, forKey: .liveGrants)
    }

    var words: String {
        """
        client_id      \(application.clientID)
        name           \(application.name)
        type           \(application.clientType.rawValue)
        status         \(application.status.rawValue)
        owner          \(application.owner.map { "user \($0.rawValue)" } ?? "the operator")
        redirect URIs  \(application.redirectURIs.joined(separator: "\n               "))
        after sign-out \(application.postLogoutRedirectURIs.isEmpty ? "none" : application.postLogoutRedirectURIs.joined(separator: "\n               "))
        scopes         \(application.allowedScopes.names.joined(separator: " "))
        scope policy   \(application.scopePolicy.rawValue)
        app link       \(application.appLinkURL ?? "none")
        webhook        \(application.webhookURL ?? "none")\(application.webhookDisabledAt.map { "; disabled since \($0.iso8601)" } ?? "")
        event types    \(application.webhookEvents.map { $0.joined(separator: " ") } ?? "all")
        sign-out       \(application.backchannelLogoutURI ?? "none")
        flags          \(flags.isEmpty ? "none" : flags.joined(separator: " "))
        live grants    \(liveGrants)
        created        \(application.createdAt.iso8601)
        revision       \(application.revision)
        pending        \(comparison.isEmpty ? "nothing" : comparison.joined(separator: "\n               "))
        """
    }

    /// `- ` marks a value that approval would remove, `+ ` one that it would add.
    private var comparison: [String] {
        application.pendingChanges.members.flatMap { member -> [String] in
            let (now, then) = (application.judged.lines(of: member), application.pendingChanges.lines(of: member))
            return ["\(member.rawValue):"]
                + now.map { (then.contains($0) ? "  " : "- ") + ($0.string ?? "none") }
                + then.filter { !now.contains($0) }.map { "+ " + ($0.string ?? "none") }
        }
    }

    private var flags: [String] {
        [
            application.allowAnonymousGrants ? "allow_anonymous_grants" : nil,
            application.notifyAnonymousSwap ? "notify_anonymous_swap" : nil,
            application.firstParty ? "first_party" : nil, application.linkedSubDetails ? "linked_sub_details" : nil,
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
