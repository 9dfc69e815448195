import MariaDB

extension SwapScene {
    /// The first column of the first row; nil when that is NULL, or when there is none.
    func value<T: Readable>(_ sql: StaticString, _ arguments: any Bindable...) throws -> T? {
        try db.first(sql, arguments: arguments) { row in try row.read(T?.self) } ?? nil
    }

    func ids(_ sql: StaticString, _ arguments: any Bindable...) throws -> [Int] {
        try db.all(sql, arguments: arguments) { row in try row.read() }
    }

    /// For each column that refers to a user of the accounts surface, the number of rows that name one of these users.
    func mentions(of users: [Int]) throws -> [String: Int] {
        let columns = try db.all(
            """
            SELECT table_name, column_name FROM information_schema.key_column_usage
            WHERE table_schema = DATABASE() AND referenced_table_name = 'users'
            UNION SELECT table_name, column_name FROM information_schema.columns
            WHERE table_schema = DATABASE() AND column_name LIKE '%user_id' AND data_type = 'bigint'
              AND column_name <> 'app_user_id'
            UNION SELECT 'users', 'id'
            """
        ) { row in (table: try row.read(String.self), column: try row.read(String.self)) }
        let list = users.map(String.init).joined(separator: ", ")
        return try Dictionary(
            uniqueKeysWithValues: columns.map { table, column in
                let count = try db.query("SELECT 1 FROM `\(table)` WHERE `\(column)` IN (\(list))").count
                return ("\(table).\(column)", count)
            })
    }
}
