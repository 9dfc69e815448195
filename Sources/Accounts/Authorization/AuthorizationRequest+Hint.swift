package import MariaDB

extension Accounts {
    /// The sub that an id_token_hint names; nil for what is no id_token of this server for the client (OpenID Connect Core
    /// §3.1.2.1).
    package func hintedSub(_ hint: String, for clientID: String, _ connection: Connection) throws -> String? {
        guard let token = try idToken(hint, connection), token.clientID.utf8.elementsEqual(clientID.utf8) else {
            return nil
        }
        return token.sub
    }

    /// Whether a user is the one whom the request's hint names, under whichever of their subs. Without a hint everybody is.
    package func isHinted(
        _ user: User.ID, by request: AuthorizationRequest, of application: Application, _ connection: Connection
    ) throws -> Bool {
        guard let sub = request.hintedSub else { return true }
        return try connection.subject(sub, at: application.id)?.canonical == user
    }
}
