import MariaDB
import Text

extension AccountsTransaction {
    /// Registers an application for the operator. It is active at once (accounts §2.1).
    ///
    /// - Parameters:
    ///   - new: with name and redirect URIs.
    ///   - clientID: the one that deployed clients already use; nil for a new one.
    package func createApplication(
        _ new: ApprovedChanges, _ clientType: Application.ClientType, clientID: String?, serverKey: ServerKey
    ) throws -> Registration {
        if let clientID,
            !(1...64).contains(clientID.utf8.count) || !clientID.utf8.allSatisfy(PercentEncoding.isUnreserved)
        {
            throw RefusedOperation("a client_id has 1 to 64 of A-Z a-z 0-9 . _ ~ -")
        }
        do {
            return try insertApplication(
                new, clientType, clientID: clientID, status: .active, owner: nil, actor: .operator,
                serverKey: serverKey)
        } catch let error as MariaDBError {
            guard let clientID, error.duplicateKey == "applications_client_id" else { throw error }
            throw RefusedOperation("an application with client_id \(clientID) already exists; choose another one")
        }
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
