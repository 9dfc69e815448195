package import JSON
package import MariaDB
package import Time

/// Everything the server keeps about a user, but no secrets and no digests (accounts §4.8).
package enum AccountExport {
    /// Grows when a member changes its meaning or goes away; new members do not change it.
    package static let format = 1

    /// A member of the document: an array of rows.
    package struct Member {
        let name: String
        let forEachRow: (_ body: (JSONValue) throws -> Void) throws -> Void

        /// - Parameter forEachRow: calls its argument for each row.
        package init(name: String, forEachRow: @escaping (_ body: (JSONValue) throws -> Void) throws -> Void) {
            self.name = name
            self.forEachRow = forEachRow
        }
    }
}

extension Connection {
    /// Writes an account as one JSON document, some rows at a time: there may be many. Call it in a `snapshot`: it runs
    /// several queries, and locks nothing.
    ///
    /// - Parameters:
    ///   - others: what others keep about the account and those that it has absorbed.
    ///   - write: gets the next piece of the document, in UTF-8.
    /// - Returns: false if there is no such user; then nothing was written.
    package func exportAccount(
        of user: User.ID, at now: Timestamp, _ serverKey: ServerKey,
        with others: ([User.ID]) throws -> [AccountExport.Member], to write: ([UInt8]) throws -> Void
    ) throws -> Bool {
        var account: JSONValue?
        try ExportSection.account.forEach(of: user, self, serverKey) { account = $0 }
        guard let account else { return false }
        let start = #"{"format":\#(AccountExport.format),"exported_at":"\#(now.iso8601)","account":"#
        try write(Array(start.utf8) + account.json())
        // The links of whoever an absorbed account had absorbed lead here, too: a merge re-points them.
        let absorbed = try all(
            "SELECT linked_user_id FROM identity_links WHERE primary_user_id = ? ORDER BY id", user
        ) { row in try row.read(User.ID.self) }
        let own = ExportSection.all.map { section in
            AccountExport.Member(name: section.name) { body in
                for id in section.includesAbsorbed ? [user] + absorbed : [user] {
                    try section.forEach(of: id, self, serverKey, body)
                }
            }
        }
        for member in try own + others([user] + absorbed) {
            var piece = Array(#","\#(member.name)":["#.utf8)
            try member.forEachRow { row in
                try write(piece + row.json())
                piece = [UInt8(ascii: ",")]
            }
            try write((piece.count > 1 ? piece : []) + [UInt8(ascii: "]")])
        }
        try write([UInt8(ascii: "}")])
        return true
    }
}

extension AccountsTransaction {
    /// Counts and notes an export, which the caller then reads without a lock: there may be more than others should wait
    /// for.
    ///
    /// - Throws: `rateLimited` after three in a day.
    package func noteExport(by caller: Caller) throws {
        let user = try lockCaller(caller).caller
        if let wait = try count(.accountExports, for: String(user.id.rawValue)) {
            throw Failure.rateLimited(retryAfter: wait)
        }
        audit(.userExported, user: user.id, actor: .user(user.id))
    }

    /// Notes an export by the operator, who is not counted.
    ///
    /// - Returns: false if there is no such user.
    package func noteExport(of user: User.ID) throws -> Bool {
        guard try lockUsers(user)[user] != nil else { return false }
        audit(.userExported, user: user, actor: .operator)
        return true
    }
}
