import MariaDB

extension AnalyticsTransaction {
    /// Lets `RecordErasure` erase what projects whose users are the accounts' know of a user. Those that take part now: later they
    /// may not any more.
    package func requestErasure(of user: EndUserID) throws {
        try connection.execute(
            "INSERT INTO record_erasures (project_id, user_id) SELECT id, ? FROM projects WHERE accounts = TRUE", user)
    }
}
