import MariaDB

extension Record {
    package func readProperties() throws -> Properties { try Properties(stored: properties) }
}

extension AnalyticsTransaction {
    /// Sets and deletes properties of a locked record in one step (analytics §6.1).
    ///
    /// - Parameter isCapped: whether to refuse too many properties. The server's own writes are not capped (§6.2).
    /// - Returns: all properties afterwards.
    package func setProperties(
        _ changes: PropertyChanges, of owner: Record, isCapped: Bool
    ) throws -> Properties {
        let before = try owner.readProperties()
        var after = before
        after.apply(changes)
        if isCapped, after.entries.count > max(Properties.maximumCount, before.entries.count) {
            throw Refusal.tooManyProperties
        }
        if after != before { try store(after, of: owner.id) }
        return after
    }

    func store(_ properties: Properties, of record: Record.ID) throws {
        try connection.executeLater("UPDATE app_users SET properties = ? WHERE id = ?", properties.stored, record)
    }
}
