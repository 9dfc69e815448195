import JSON
import MariaDB
import OpenSSL

/// An application as an operator registers it.
package struct NewApplication: Sendable {
    package enum ClientType: String, Sendable, CaseIterable {
        case `public`, confidential
    }

    package var name: String
    package var clientType: ClientType
    package var redirectURIs: [RedirectURI]
    /// Nil: a fresh one of the form `logi_` and 32 hexadecimal digits.
    package var clientID: String?
    package var allowedScopes: [String]
    package var allowAnonymousGrants: Bool
    package var notifyAnonymousSwap: Bool

    package init(
        name: String, clientType: ClientType, redirectURIs: [RedirectURI], clientID: String? = nil,
        allowedScopes: [String], allowAnonymousGrants: Bool = false, notifyAnonymousSwap: Bool = false
    ) {
        self.name = name
        self.clientType = clientType
        self.redirectURIs = redirectURIs
        self.clientID = clientID
        self.allowedScopes = allowedScopes
        self.allowAnonymousGrants = allowAnonymousGrants
        self.notifyAnonymousSwap = notifyAnonymousSwap
    }
}

/// What an operator asked for and cannot have; the text says what to do instead.
package struct RefusedOperation: Error, Equatable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

extension AccountsTransaction {
    /// Registers an application that is active at once, as the operator vouches for it (accounts §2.1).
    ///
    /// - Returns: its id, and the secret that only this answer shows; nil for a public client.
    package func createApplication(
        _ new: NewApplication
    ) throws -> (id: Application.ID, clientID: String, secret: String?) {
        try new.check()
        let clientID = new.clientID ?? "logi_" + randomBytes(16).hexadecimal
        let secret = new.clientType == .confidential ? "logi_secret_" + randomBytes(32).hexadecimal : nil
        let outcome: Outcome
        do {
            outcome = try connection.execute(
                """
                INSERT INTO applications (client_id, name, client_type, secret_digest, redirect_uris, allowed_scopes,
                                          status, allow_anonymous_grants, notify_anonymous_swap, created_at)
                VALUES (?, ?, ?, ?, ?, ?, 'active', ?, ?, ?)
                """, clientID, new.name, new.clientType.rawValue, secret.map { sha256($0.utf8) },
                String(decoding: new.redirectURIs.map(\.description).json(), as: UTF8.self),
                new.allowedScopes.joined(separator: " "), new.allowAnonymousGrants, new.notifyAnonymousSwap, now)
        } catch {
            guard error.duplicateKey == "applications_client_id" else { throw error }
            throw RefusedOperation("there is an application with client_id \(clientID) already; choose another one")
        }
        audit(
            .applicationCreated, user: nil, actor: .operator,
            ["client_id": .string(clientID), "client_type": .string(new.clientType.rawValue)])
        return (Application.ID(rawValue: Int64(outcome.lastInsertID)), clientID, secret)
    }
}

extension NewApplication {
    /// Scopes with a meaning of their own (accounts §2.8).
    package static let standardScopes = [
        "openid", "profile", "profile:basic", "email", "phone", "address", "identity:level", "offline_access",
    ]

    fileprivate func check() throws(RefusedOperation) {
        guard !name.isEmpty, name.unicodeScalars.count <= 200,
            name.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else { throw RefusedOperation("the name must have 1 to 200 characters and no control characters") }
        guard (1...20).contains(redirectURIs.count) else {
            throw RefusedOperation("an application has 1 to 20 redirect URIs, not \(redirectURIs.count)")
        }
        if let clientID, !(1...64).contains(clientID.utf8.count) || !clientID.utf8.allSatisfy(isUnreserved) {
            throw RefusedOperation("a client_id has 1 to 64 of A-Z a-z 0-9 . _ ~ -")
        }
        for scope in allowedScopes where !Self.standardScopes.contains(scope) && !isCustom(scope) {
            throw RefusedOperation(
                "\"\(scope)\" is no scope; use one of \(Self.standardScopes.joined(separator: ", ")), "
                    + "or <namespace>:<key> for a custom claim")
        }
    }

    /// `<namespace>:<key>` with exactly one colon.
    private func isCustom(_ scope: String) -> Bool {
        let parts = scope.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        return parts.count == 2 && scope.utf8.count <= 100
            && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy(isUnreserved) }
    }

    /// Characters that no client has to escape (RFC 3986 §2.3).
    private func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: ".-_~".utf8.contains(byte)
        }
    }
}
