import JOSE
package import JSON
import OpenSSL
import Text

/// What a developer wants to change of an application that people may trust already. It waits for the operator, and the
/// values so far serve meanwhile (accounts §2.1).
package struct PendingChanges: Sendable, Equatable {
    /// What the operator judges an application by.
    package enum Member: String, Sendable, CaseIterable {
        case name
        case redirectURIs = "redirect_uris"
        case allowedScopes = "allowed_scopes"
        case appLinkURL = "app_link_url"
    }

    /// What is wished, as it stands on the wire.
    package private(set) var values: [Member: JSONValue]

    init() { values = [:] }

    /// The part of some changes that an operator judges.
    init(of changes: ApplicationChanges) {
        values = [:]
        values[.name] = changes.name.map(JSONValue.string)
        values[.redirectURIs] = changes.redirectURIs.map { .array($0.map(JSONValue.string)) }
        values[.allowedScopes] = changes.allowedScopes.map { .array(Scopes($0).names.map(JSONValue.string)) }
        values[.appLinkURL] = changes.appLinkURL.map { $0.map(JSONValue.string) ?? .null }
    }

    /// What `json` wrote.
    init(json: JSONValue) {
        values = [:]
        for member in Member.allCases { values[member] = json[member.rawValue] }
    }

    package var isEmpty: Bool { values.isEmpty }

    package var members: [Member] { Member.allCases.filter { values[$0] != nil } }

    /// An object with the members that are to change.
    package var json: JSONValue { .object(JSONObject(members.map { ($0.rawValue, values[$0] ?? .null) })) }

    var changes: ApplicationChanges {
        var changes = ApplicationChanges()
        changes.name = values[.name]?.string
        changes.redirectURIs = values[.redirectURIs]?.array?.compactMap(\.string)
        changes.allowedScopes = values[.allowedScopes]?.array?.compactMap(\.string)
        changes.appLinkURL = values[.appLinkURL].map(\.string)
        return changes
    }

    /// The newer wish for a member counts.
    mutating func merge(_ newer: PendingChanges) { values.merge(newer.values) { _, newer in newer } }

    /// What was decided otherwise meanwhile waits no longer.
    mutating func remove(_ members: [Member]) {
        for member in members { values[member] = nil }
    }

    /// Leaves out what is so already.
    mutating func remove(whatIs serving: PendingChanges) {
        values = values.filter { $0.value != serving.values[$0.key] }
    }
}

extension RegisteredApplication {
    /// The values that serve.
    package var judged: PendingChanges {
        var changes = ApplicationChanges()
        changes.name = name
        changes.redirectURIs = redirectURIs
        changes.allowedScopes = allowedScopes.names
        changes.appLinkURL = .some(appLinkURL)
        return PendingChanges(of: changes)
    }

    /// Names what an operator sees and decides on: status, values that serve, values that wait. Unpadded base64url of a
    /// SHA-256, so that nobody can make two that look alike.
    package var revision: String {
        let seen: JSONValue = [
            "client_id": .string(clientID), "status": .string(status.rawValue), "serving": judged.json,
            "pending": pendingChanges.json,
        ]
        return Base64URL.encode(sha256(seen.canonicalJSON()))
    }

    /// Whether the operator has something to decide.
    package var awaitsApproval: Bool { status == .pending || !pendingChanges.isEmpty }
}

extension ApplicationChanges {
    /// Without what an operator judges.
    var unjudged: ApplicationChanges {
        var changes = self
        changes.name = nil
        changes.redirectURIs = nil
        changes.allowedScopes = nil
        changes.appLinkURL = nil
        return changes
    }
}
