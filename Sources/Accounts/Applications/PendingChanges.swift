package import JSON
import OpenSSL
import Text

/// Changes to an application that users may already trust. They wait for the operator; until then the old values stay
/// in effect (accounts §2.1).
package struct PendingChanges: Sendable, Equatable {
    /// A setting that needs the operator's approval.
    package enum Member: String, Sendable, CaseIterable {
        case name
        case redirectURIs = "redirect_uris"
        case postLogoutRedirectURIs = "post_logout_redirect_uris"
        case allowedScopes = "allowed_scopes"
        case appLinkURL = "app_link_url"
    }

    /// The new values, as they are written on the wire.
    package private(set) var values: [Member: JSONValue]

    init() { values = [:] }

    /// The part of some changes that needs approval.
    init(of changes: ApplicationChanges) {
        values = [:]
        values[.name] = changes.name.map(JSONValue.string)
        values[.redirectURIs] = changes.redirectURIs.map { .array($0.map(JSONValue.string)) }
        values[.postLogoutRedirectURIs] = changes.postLogoutRedirectURIs.map { .array($0.map(JSONValue.string)) }
        values[.allowedScopes] = changes.allowedScopes.map { .array(Scopes($0).names.map(JSONValue.string)) }
        values[.appLinkURL] = changes.appLinkURL.map { $0.map(JSONValue.string) ?? .null }
    }

    /// Reads what `json` wrote.
    init(json: JSONValue) {
        values = [:]
        for member in Member.allCases { values[member] = json[member.rawValue] }
    }

    package var isEmpty: Bool { values.isEmpty }

    package var members: [Member] { Member.allCases.filter { values[$0] != nil } }

    /// An object with the settings that are to change.
    package var json: JSONValue { .object(JSONObject(members.map { ($0.rawValue, values[$0] ?? .null) })) }

    var changes: ApplicationChanges {
        var changes = ApplicationChanges()
        changes.name = values[.name]?.string
        changes.redirectURIs = values[.redirectURIs]?.array?.compactMap(\.string)
        changes.postLogoutRedirectURIs = values[.postLogoutRedirectURIs]?.array?.compactMap(\.string)
        changes.allowedScopes = values[.allowedScopes]?.array?.compactMap(\.string)
        changes.appLinkURL = values[.appLinkURL].map(\.string)
        return changes
    }

    /// Adds newer changes. If both change a setting, the newer value wins.
    mutating func merge(_ newer: PendingChanges) { values.merge(newer.values) { _, newer in newer } }

    /// Removes the settings that were set directly in the meantime.
    mutating func remove(_ members: [Member]) {
        for member in members { values[member] = nil }
    }

    /// Removes the settings whose new value is already in effect.
    mutating func remove(whatIs serving: PendingChanges) {
        values = values.filter { $0.value != serving.values[$0.key] }
    }
}

extension RegisteredApplication {
    /// The values in effect of the settings that need approval.
    package var judged: PendingChanges {
        var changes = ApplicationChanges()
        changes.name = name
        changes.redirectURIs = redirectURIs
        changes.postLogoutRedirectURIs = postLogoutRedirectURIs
        changes.allowedScopes = allowedScopes.names
        changes.appLinkURL = .some(appLinkURL)
        return PendingChanges(of: changes)
    }

    /// A digest of what the operator sees and decides on: status, values in effect, pending values. Unpadded base64url
    /// of SHA-256, so that nobody can make two states with the same revision.
    package var revision: String {
        let seen: JSONValue = [
            "client_id": .string(clientID), "status": .string(status.rawValue), "serving": judged.json,
            "pending": pendingChanges.json,
        ]
        return Base64URL.encode(sha256(seen.canonicalJSON()))
    }

    /// Whether the application is pending or has pending changes.
    package var awaitsApproval: Bool { status == .pending || !pendingChanges.isEmpty }
}

extension ApplicationChanges {
    /// The changes without the settings that need approval.
    var unjudged: ApplicationChanges {
        var changes = self
        changes.name = nil
        changes.redirectURIs = nil
        changes.postLogoutRedirectURIs = nil
        changes.allowedScopes = nil
        changes.appLinkURL = nil
        return changes
    }
}
