import MariaDB

extension AccountsTransaction {
    /// Nobody can merge any more with a token of the user, or with a code that the user asked for.
    ///
    /// - Parameter user: locked.
    func voidMergeCredentials(of user: User.ID) throws {
        try connection.execute(
            """
            UPDATE merge_tokens SET used_at = ?, sealed_token = NULL, copy_expires_at = NULL
            WHERE user_id = ? AND used_at IS NULL
            """, now, user)
        try connection.execute(
            "UPDATE merge_otps SET used_at = ? WHERE requester_id = ? AND used_at IS NULL", now, user)
    }
}
