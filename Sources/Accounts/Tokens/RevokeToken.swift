extension Accounts {
    /// Ends a token at its relying party's wish (RFC 7009): an access token alone, a refresh token with its family and
    /// every access token of it. Tokens of others and unknown ones are left alone, without a word.
    package func revoke(
        _ token: String, by application: Application, in transaction: AccountsTransaction
    ) throws {
        if let signed = try read(token, transaction.connection) {
            guard signed.clientID.utf8.elementsEqual(application.clientID.utf8), transaction.now < signed.expiresAt
            else { return }
            try transaction.revoke(signed)
        } else if let family = try transaction.connection.family(
            ofToken: Secret(presented: token).digest, of: application.id)
        {
            _ = try transaction.revoke(family)
        }
    }
}
