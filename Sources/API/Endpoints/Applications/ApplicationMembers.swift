import Accounts
import JSON

/// What a developer sends about an application (accounts §2.1).
struct ApplicationMembers: Decodable {
    private var name: Presence<String>
    private(set) var clientType: Presence<String>
    private var redirectURIs: Presence<[String]>
    private var postLogoutRedirectURIs: Presence<[String]>
    private var allowedScopes: Presence<[String]>
    private var appLinkURL: Presence<String>
    private var webhookURL: Presence<String>
    private var webhookEvents: Presence<[String]>
    private var backchannelLogoutURI: Presence<String>
    private var scopePolicy: Presence<String>
    private var notifyAnonymousSwap: Presence<Bool>

    /// - Throws: `invalidRequest` if a required value is `null`, or if the scope policy is unknown.
    var changes: ApplicationChanges {
        get throws {
            var changes = ApplicationChanges()
            changes.name = try name.value
            changes.redirectURIs = try redirectURIs.value
            changes.postLogoutRedirectURIs = try postLogoutRedirectURIs.value
            changes.allowedScopes = try allowedScopes.value
            changes.appLinkURL = appLinkURL.change
            changes.webhookURL = webhookURL.change
            changes.webhookEvents = webhookEvents.change
            changes.backchannelLogoutURI = backchannelLogoutURI.change
            changes.scopePolicy = try scopePolicy.value.map { try known($0) }
            changes.notifyAnonymousSwap = try notifyAnonymousSwap.value
            return changes
        }
    }

    /// For a new application: `null` counts as absent.
    ///
    /// - Throws: `invalidRequest` if name, client type or redirect URIs are absent.
    func makeNew() throws -> (ApplicationChanges, Application.ClientType) {
        var members = self
        if name == .null { members.name = .absent }
        if postLogoutRedirectURIs == .null { members.postLogoutRedirectURIs = .absent }
        if allowedScopes == .null { members.allowedScopes = .absent }
        if scopePolicy == .null { members.scopePolicy = .absent }
        if notifyAnonymousSwap == .null { members.notifyAnonymousSwap = .absent }
        let changes = try members.changes
        guard changes.name != nil, changes.redirectURIs != nil, case .value(let clientType) = clientType else {
            throw Failure.invalidRequest
        }
        return (changes, try known(clientType))
    }
}

/// - Throws: `invalidRequest` if the text is not one of the cases.
private func known<Choice: RawRepresentable<String>>(_ text: String) throws -> Choice {
    guard let choice = Choice(rawValue: text) else { throw Failure.invalidRequest }
    return choice
}

extension Presence {
    /// Nil if absent.
    fileprivate var value: Value? {
        get throws {
            if case .null = self { throw Failure.invalidRequest }
            return change ?? nil
        }
    }
}

extension Call {
    private struct Envelope: Decodable {
        var application: ApplicationMembers?
        var oauthApplication: ApplicationMembers?
    }

    /// The members under `application`, or `oauth_application`.
    func decodeApplication() throws -> ApplicationMembers {
        let envelope = try decode(Envelope.self)
        guard let members = envelope.application ?? envelope.oauthApplication else { throw Failure.invalidRequest }
        return members
    }

    /// Checks the settings of an application. Host names are resolved here, before any transaction.
    func approve(_ changes: ApplicationChanges) throws -> ApprovedChanges {
        do {
            let rules = accounts.settings.applicationRules
            guard ApprovedChanges.takesLong(changes) else { return try ApprovedChanges(changes, by: rules) }
            guard let approved = try waitOutside({ try ApprovedChanges(changes, by: rules) }) else {
                throw Failure.temporarilyUnavailable
            }
            return approved
        } catch let invalid as InvalidApplication {
            throw invalid.failure
        }
    }
}
