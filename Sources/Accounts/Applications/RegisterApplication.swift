import JSON
import OpenSSL
import Text

/// A newly registered application with its secrets, which are shown only once.
package struct Registration: Sendable {
    package let application: RegisteredApplication
    /// Nil for a public client, and if it was given.
    package let clientSecret: String?
    package let webhookKey: WebhookKey
}

extension Accounts {
    /// Registers an application for its developer. It waits for the operator's approval unless the settings say
    /// otherwise (accounts §2.1).
    ///
    /// - Throws: `rateLimited` after 10 in an hour or 30 in a day.
    package func registerApplication(
        _ new: ApprovedChanges, _ clientType: Application.ClientType, by caller: Caller,
        in transaction: AccountsTransaction
    ) throws -> Registration {
        try transaction.lockDeveloper(caller)
        if let wait = try transaction.count(.applicationCreation, for: "\(caller.id.rawValue)") {
            throw Failure.rateLimited(retryAfter: wait)
        }
        return try transaction.insertApplication(
            new, clientType, clientID: nil, given: nil, status: settings.autoApprovesApplications ? .active : .pending,
            owner: caller.id, actor: caller.actor, serverKey: serverKey)
    }
}

extension AccountsTransaction {
    /// Inserts a new application. Every registration ends here.
    ///
    /// - Parameters:
    ///   - new: with name and redirect URIs.
    ///   - clientID: nil for a new one.
    ///   - given: a confidential client's secret; nil for a new one.
    func insertApplication(
        _ new: ApprovedChanges, _ clientType: Application.ClientType, clientID: String?, given: Secret?,
        status: Application.Status, owner: User.ID?, actor: AuditEntry.Actor, serverKey: ServerKey
    ) throws -> Registration {
        guard let name = new.changes.name, let redirectURIs = new.changes.redirectURIs else {
            throw Failure.invalidRequest
        }
        let secret = clientType == .confidential ? given ?? Secret.forClient() : nil
        var application = RegisteredApplication(
            id: Application.ID(rawValue: 0), clientID: clientID ?? "logi_" + randomBytes(16).hexadecimal, name: name,
            clientType: clientType, status: status, redirectURIs: redirectURIs,
            allowedScopes: Scopes(ApplicationChanges.defaultScopes), scopePolicy: .block, notifyAnonymousSwap: false,
            allowAnonymousGrants: false, firstParty: false, linkedSubDetails: false, owner: owner, createdAt: now)
        application.apply(new.changes)
        application.id = try connection.insert(application, secretDigest: secret?.digest)
        audit(
            .applicationCreated, user: owner, actor: actor,
            ["client_id": .string(application.clientID), "client_type": .string(clientType.rawValue)])
        let webhookKey = try addWebhookKey(to: application, actor: actor, serverKey: serverKey)
        return Registration(
            application: application, clientSecret: given == nil ? secret?.text : nil, webhookKey: webhookKey)
    }
}

extension User.Role {
    package var registersApplications: Bool { self != .user }
}
