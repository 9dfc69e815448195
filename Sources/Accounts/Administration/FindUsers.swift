import IdentityTokens
package import MariaDB

/// A user in a list.
package struct ListedUser: Sendable {
    package var user: User
    /// The survivor, if the account was merged into another.
    package var mergedInto: User.ID?

    package init(user: User, mergedInto: User.ID? = nil) {
        self.user = user
        self.mergedInto = mergedInto
    }
}

extension Connection {
    /// Users by a name that somebody has of them, newest first: the id, an e-mail address, the `sub` at a provider, or the
    /// UUID of a device. An address is found as it was typed and in lower case.
    ///
    /// Each kind of name is one range of an index, read in the order of the list and no further than a page.
    ///
    /// - Parameters:
    ///   - query: nil: all users.
    ///   - before: the last user of the page before.
    package func findUsers(_ query: String?, before: User.ID?, limit: Int) throws -> ListPage<ListedUser> {
        let before = before ?? .last
        var sql = ComposedSQL(select: User.columns, "l.primary_user_id", from: "(")
        for (index, branch) in branches(query, before, limit + 1).enumerated() {
            sql.append(index == 0 ? "(" : " UNION (")
            sql.append(branch)
            sql.append(")")
        }
        sql.append(
            """
             ORDER BY id DESC LIMIT ?) found
            JOIN users u ON u.id = found.id LEFT JOIN identity_links l ON l.linked_user_id = u.id ORDER BY u.id DESC
            """, limit + 1)
        let found = try all(sql) { row in ListedUser(user: try User(from: &row), mergedInto: try row.read()) }
        return ListPage(found, limit: limit) { String($0.user.id.rawValue) }
    }

    private func branches(_ query: String?, _ before: User.ID, _ limit: Int) -> [ComposedSQL] {
        guard let query else {
            return [ComposedSQL("SELECT id FROM users WHERE id < ? ORDER BY id DESC LIMIT ?", before, limit)]
        }
        var branches = Provider.allCases.map { provider in
            ComposedSQL(
                "SELECT user_id AS id FROM identities WHERE provider = ? AND sub = ? AND user_id < ?",
                provider.rawValue, query, before)
        }
        if let id = Int64(query), id > 0 {
            branches.append(ComposedSQL("SELECT id FROM users WHERE id = ? AND id < ?", id, before))
        }
        if let device = DeviceUUID(query) {
            branches.append(
                ComposedSQL(
                    "SELECT user_id AS id FROM devices WHERE device_uuid = ? AND user_id < ?", device.text, before))
        }
        guard query.utf8.contains(UInt8(ascii: "@")) else { return branches }
        let folded = String(decoding: FoldedAddress(query).bytes, as: UTF8.self)
        for address in folded.utf8.elementsEqual(query.utf8) ? [query] : [query, folded] {
            branches += [
                ComposedSQL(
                    "SELECT id FROM users WHERE login_email = ? AND id < ? ORDER BY id DESC LIMIT ?", address, before,
                    limit),
                ComposedSQL(
                    "SELECT id FROM users WHERE contact_email = ? AND id < ? ORDER BY id DESC LIMIT ?", address, before,
                    limit),
                ComposedSQL(
                    """
                    SELECT user_id AS id FROM identities WHERE email = ? AND user_id < ? ORDER BY user_id DESC LIMIT ?
                    """, address, before, limit),
            ]
        }
        return branches
    }
}
