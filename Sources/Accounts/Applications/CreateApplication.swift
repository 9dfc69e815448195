import MariaDB
import Text

extension AccountsTransaction {
    /// Registers an application for the operator. It is active at once (accounts §2.1).
    ///
    /// - Parameters:
    ///   - new: with name and redirect URIs.
    ///   - clientID: the one that deployed clients already use; nil for a new one.
    ///   - clientSecret: likewise, of a confidential client.
    package func createApplication(
        _ new: ApprovedChanges, _ clientType: Application.ClientType, clientID: String?, clientSecret: String? = nil,
        serverKey: ServerKey
    ) throws -> Registration {
        let secret = try clientSecret.map { try givenSecret($0, clientType) }
        if let clientID,
            !(1...64).contains(clientID.utf8.count) || !clientID.utf8.allSatisfy(PercentEncoding.isUnreserved)
        {
            throw RefusedOperation("a client_id has 1 to 64 of A-Z a-z 0-9 . _ ~ -")
        }
        do {
            return try insertApplication(
                new, clientType, clientID: clientID, given: secret, status: .active, owner: nil, actor: .operator,
                serverKey: serverKey)
        } catch let error as MariaDBError {
            guard let clientID, error.duplicateKey == "applications_client_id" else { throw error }
            throw RefusedOperation("an application with client_id \(clientID) already exists; choose another one")
        }
    }

    private func givenSecret(_ text: String, _ clientType: Application.ClientType) throws -> Secret {
        guard clientType == .confidential else {
            throw RefusedOperation("a public client has no secret; leave it out, or register a confidential client")
        }
        // RFC 6749, appendix A.2. Only its digest is kept, and a short one could be found by trying.
        guard (16...256).contains(text.utf8.count), text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw RefusedOperation("a client's secret has 16 to 256 printable ASCII characters")
        }
        return Secret(presented: text)
    }

    /// Changes any setting of an application, including those that only an operator may set.
    package func setApplication(
        _ clientID: String, _ changes: ApprovedChanges, by changer: Operator = .tool
    ) throws -> RegisteredApplication {
        _ = try lock(changer)
        return try change(try lockApplication(clientID), changes, user: nil, actor: changer.actor)
    }

    /// - Parameter immediately: whether the previous secret stops working at once, and not in 24 hours.
    package func rotateSecret(of clientID: String, immediately: Bool) throws -> String {
        let application = try lockApplication(clientID)
        guard application.clientType == .confidential else {
            throw RefusedOperation("\(clientID) is a public client, which has no secret")
        }
        return try rotateSecret(of: application, immediately: immediately, user: nil, actor: .operator).secret
    }
}
