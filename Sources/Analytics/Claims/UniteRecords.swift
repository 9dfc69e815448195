import Database
import MariaDB

extension AnalyticsTransaction {
    /// Makes the records of two users one, in every project whose users are the accounts' (accounts Stage 5): one account has
    /// absorbed the other, or an anonymous account was swapped into it.
    ///
    /// The absorbed user's record points at the survivor's from then on, also where it had none, since events may arrive late.
    /// The cost does not depend on the number of events.
    ///
    /// - Parameter ids: that the same transaction claims afterwards. Read only if a project takes part.
    package func unite(
        _ absorbed: EndUserID, into survivor: EndUserID, beforeClaiming ids: () throws -> [EndUserID]
    ) throws {
        let projects = try connection.accountsProjects()
        if projects.isEmpty { return }
        // All of them, in ascending order, as whoever reports events of several users does.
        _ = try lockRecords(connection.records(named: [absorbed, survivor] + ids(), orPointingAt: absorbed))
        for project in projects { try unite(absorbed, into: survivor, in: project) }
    }

    private func unite(_ absorbed: EndUserID, into survivor: EndUserID, in project: Project.ID) throws {
        let found = try lockRecords(named: [absorbed, survivor], in: project)
        guard let from = found[absorbed], let to = try found[survivor].map(lockSurvivor(of:)) else {
            throw TransactionMustRestart()
        }
        if from.isNew || from.mergedInto != nil {
            try point(from, at: to.id)
        } else {
            try freezeDeleted(of: from)
            if to.isNew {
                // The record, with all that it has, takes the survivor's name.
                try removeUnused(to)
                try rename(from.id, to: survivor)
                try point(insertRecord(named: absorbed, in: project, NewRecord()), at: from.id)
            } else {
                try merge(from, into: to)
            }
        }
    }

    /// - Parameter record: locked, real; no row names it.
    private func point(_ record: Record, at owner: Record.ID) throws {
        try connection.execute("UPDATE app_users SET merged_into = ? WHERE id = ?", owner, record.id)
    }
}
