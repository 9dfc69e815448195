import Database
import MariaDB

extension AnalyticsTransaction {
    /// Makes the records of two users one, in every project whose users are the accounts' (accounts Stage 5): one account has
    /// absorbed the other, or an anonymous account was swapped into it.
    ///
    /// The absorbed user's record points at the survivor's from then on, also where it had none, since events may arrive late.
    /// The cost does not depend on the number of events.
    ///
    /// - Parameters:
    ///   - ids: that `claim` claims. Read only if a project takes part.
    ///   - keepsJournal: whether what this does, and what `claim` does to records, is to be undone later.
    ///   - claim: runs in any case, with no ids if no project takes part.
    /// - Returns: nil if no journal is kept or no project takes part.
    package func unite(
        _ absorbed: EndUserID, into survivor: EndUserID, claiming ids: () throws -> [EndUserID], keepsJournal: Bool,
        _ claim: ([EndUserID]) throws -> Void
    ) throws -> RecordsJournal? {
        let projects = try connection.accountsProjects()
        if projects.isEmpty {
            try claim([])
            return nil
        }
        let ids = try ids()
        func merge() throws -> Set<Record.ID> {
            let made = try projects.map { try unite(absorbed, into: survivor, in: $0) }
            try claim(ids)
            return Set(made.joined())
        }
        // All of them, in ascending order, as whoever reports events of several users does.
        let names = [absorbed, survivor] + ids
        let records = try connection.records(named: names, orPointingAt: absorbed)
        let locked = try lockRecords(records)
        guard keepsJournal else {
            _ = try merge()
            return nil
        }
        let moving = locked.values.filter { record in
            record.mergedInto == nil && record.userID != survivor && names.contains(record.userID)
        }
        return try journaling(merging: Set(moving.map(\.id)), records) {
            let made = try merge()
            return (try connection.records(named: names, orPointingAt: absorbed), made)
        }
    }

    /// The survivor's record is made if there is none, instead of giving it the other one: then the events of both would name one
    /// record, and nobody could tell them apart again.
    ///
    /// - Returns: the records that were made.
    private func unite(
        _ absorbed: EndUserID, into survivor: EndUserID, in project: Project.ID
    ) throws -> [Record.ID] {
        let found = try lockRecords(named: [absorbed, survivor], in: project)
        guard let from = found[absorbed], let to = try found[survivor].map({ try lockSurvivor(of: $0) }) else {
            throw TransactionMustRestart()
        }
        if from.isNew || from.mergedInto != nil {
            try point(from, at: to.id)
        } else {
            if to.isNew { try describe(to.id, as: from.id) }
            try merge(from, into: to)
        }
        return [from, to].filter(\.isNew).map(\.id)
    }

    /// Gives a record that was just made what is known of the clients of another one.
    private func describe(_ new: Record.ID, as known: Record.ID) throws {
        try connection.execute(
            """
            UPDATE app_users o JOIN app_users a ON a.id = ?
            SET o.last_seen_at = a.last_seen_at, o.last_country_code = a.last_country_code,
                o.last_app_version = a.last_app_version, o.last_sdk_name = a.last_sdk_name,
                o.last_sdk_version = a.last_sdk_version, o.last_locale = a.last_locale,
                o.last_preferred_language = a.last_preferred_language,
                o.total_revenue_usd_cents = a.total_revenue_usd_cents, o.revenue_synced_at = a.revenue_synced_at,
                o.is_dev = a.is_dev
            WHERE o.id = ?
            """, known, new)
    }

    /// - Parameter record: locked, real; no row names it.
    private func point(_ record: Record, at owner: Record.ID) throws {
        try connection.execute("UPDATE app_users SET merged_into = ? WHERE id = ?", owner, record.id)
    }
}
