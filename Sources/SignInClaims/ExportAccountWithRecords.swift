package import Accounts
import Analytics
package import Database
package import Files
import MariaDB
import OpenSSL
import Text
package import Time

extension Database {
    /// What the server keeps about an account, with what projects whose users are the accounts' keep (accounts §4.8). It may be
    /// larger than the memory, so it waits in a file that loses its name at once.
    ///
    /// - Parameter bound: nil: none.
    /// - Returns: nil if there is no such account.
    /// - Throws: `accountTooLarge`.
    package func exportedAccount(
        of user: User.ID, at now: Timestamp, _ serverKey: ServerKey, within bound: ExportBound?
    ) throws -> StoredFile? {
        let start = ContinuousClock.now
        return try snapshot { connection -> StoredFile? in
            // Each time it is read it has a file and a size of its own: a read that was interrupted is done anew.
            let meter = bound.map { ExportBound.Meter($0, since: start) }
            let path = "\(Folder.temporary)/merganser-export-\(randomBytes(16).hexadecimal)"
            let file = try NewFile(path)
            let isThere = try connection.exportAccount(
                of: user, at: now, serverKey, with: { try connection.recordMembers(of: $0, meter) },
                to: { part in
                    try meter?.count(part.count)
                    try file.append(part)
                })
            return isThere ? try StoredFile(path) : nil
        }
    }
}

extension Connection {
    fileprivate func recordMembers(
        of accounts: [User.ID], _ meter: ExportBound.Meter?
    ) throws -> [AccountExport.Member] {
        let records = try exportedRecords(of: accounts.map { EndUserID($0) })
        return RecordSection.all.map { section in
            AccountExport.Member(name: section.name) { body in
                // Very many records may have no rows.
                try self.forEachRow(of: section, in: records, beforeEachKey: { try meter?.count(0) }, body)
            }
        }
    }
}
