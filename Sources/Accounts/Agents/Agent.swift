import Fetch
import JSON
import MariaDB
import OpenSSL
import Text
package import Time

/// A program that asks its user to approve actions (accounts §4.1).
package struct Agent: Sendable {
    package typealias ID = Identifier<Agent>

    package enum Kind: String, Sendable, CaseIterable, Readable, Bindable {
        case codex, claude, cursor, custom
    }

    /// How an agent authenticates. Its row says so; a request cannot choose.
    package enum AuthMode: String, Sendable, CaseIterable, Readable, Bindable {
        /// The bearer token, and a signature of each request.
        case signed
        case bearerOnly = "bearer_only"
    }

    /// How many agents that are not revoked a user may have when a new one is made. Swaps and merges bring further ones.
    static let mostLive = 50
    /// The most agents of a list.
    static let listed = 200

    package var id: ID
    package var user: User.ID
    /// `agt_…`
    package var publicID: String
    package var name: String
    package var kind: Kind
    package var authMode: AuthMode
    /// Ed25519, 32 bytes; nil unless the agent signs.
    package var publicKey: [UInt8]?
    /// Empty: any.
    package var allowedActionTypes: [String]
    /// Addresses and blocks of addresses; empty: any.
    package var allowedAddresses: [String]
    package var createdAt: Timestamp

    static let columns: StaticString = """
        a.id, a.user_id, a.public_id, a.name, a.agent_type, a.auth_mode, a.public_key, a.allowed_action_types, a.allowed_ips,
        a.created_at
        """

    /// - Parameter row: `columns`, in their order.
    init(from row: inout Row) throws {
        func list(_ json: String?) throws -> [String] { try json.map { try [String](json: Array($0.utf8)) } ?? [] }
        id = try row.read()
        user = try row.read()
        publicID = try row.read()
        name = try row.read()
        kind = try row.read()
        authMode = try row.read()
        publicKey = try row.read()
        allowedActionTypes = try list(row.read())
        allowedAddresses = try list(row.read())
        createdAt = try row.read()
    }

    /// Whether the agent may ask for such actions. Compares bytes.
    func mayAsk(for actionType: String) -> Bool {
        allowedActionTypes.isEmpty || allowedActionTypes.contains { $0.utf8.elementsEqual(actionType.utf8) }
    }

    func mayCall(from address: String) -> Bool {
        if allowedAddresses.isEmpty { return true }
        guard let address = IPAddress(address)?.unmapped else { return false }
        return allowedAddresses.contains { AddressBlock(written: $0)?.unmapped.contains(address) ?? false }
    }
}

/// An agent as its user describes it, checked.
package struct NewAgent: Sendable {
    let name: String
    let kind: Agent.Kind
    let authMode: Agent.AuthMode
    let publicKey: [UInt8]?
    let allowedActionTypes: [String]
    let allowedAddresses: [String]

    /// How many entries a list may have.
    private static let longestList = 100

    /// - Parameter publicKey: base64 of an Ed25519 key; ignored unless the agent signs.
    /// - Throws: `invalidRequest` for a name that is blank, has more than 200 characters or some that names must not have;
    ///   for a key that is missing or is none; for a list of more than 100 entries, or with an entry that is no type of action
    ///   or no address.
    package init(
        name: String, kind: Agent.Kind, authMode: Agent.AuthMode, publicKey: String?, allowedActionTypes: [String],
        allowedAddresses: [String]
    ) throws(Failure) {
        guard !String?(name).isBlank, name.unicodeScalars.count <= User.longestName, DisplayName.isAcceptable(name),
            max(allowedActionTypes.count, allowedAddresses.count) <= Self.longestList,
            allowedActionTypes.allSatisfy(ApprovalRequest.isActionType),
            allowedAddresses.allSatisfy({ AddressBlock(written: $0) != nil })
        else { throw .invalidRequest }
        self.name = name
        self.kind = kind
        self.authMode = authMode
        self.allowedActionTypes = allowedActionTypes
        self.allowedAddresses = allowedAddresses
        switch authMode {
        case .bearerOnly: self.publicKey = nil
        case .signed:
            guard let key = publicKey.flatMap({ Base64.decode($0.utf8) }), (try? Ed25519PublicKey(raw: key)) != nil
            else {
                throw .invalidRequest
            }
            self.publicKey = key
        }
    }
}
