import CMariaDB

/// The text protocol, for migrations, tools and tests: for statements that cannot be prepared, or whose names are not
/// known in advance. Never use it with input from outside.
extension Connection {
    /// Runs statements that are separated by `;` and ignores their rows. Stops at the first one that fails.
    package func executeScript(_ sql: String) throws(MariaDBError) {
        try prepareForStatement()
        guard mysql_set_server_option(handle, MYSQL_OPTION_MULTI_STATEMENTS_ON) == 0 else {
            throw note(MariaDBError(of: handle, sql: ""))
        }
        defer { mysql_set_server_option(handle, MYSQL_OPTION_MULTI_STATEMENTS_OFF) }
        var status = mysql_real_query(handle, sql, UInt(sql.utf8.count))
        while status == 0 {
            // A statement that waits for a lock may fail only as its rows are read.
            let result = mysql_store_result(handle)
            guard result != nil || mysql_errno(handle) == 0 else { throw note(MariaDBError(of: handle, sql: sql)) }
            mysql_free_result(result)
            status = mysql_next_result(handle)
        }
        if status > 0 { throw note(MariaDBError(of: handle, sql: sql)) }
    }

    /// Runs one statement. Each row is an array of the columns' texts, with nil for NULL.
    @discardableResult
    package func query(_ sql: String) throws(MariaDBError) -> [[[UInt8]?]] {
        try prepareForStatement()
        try perform(sql)
        guard let result = mysql_store_result(handle) else {
            guard mysql_errno(handle) == 0 else { throw note(MariaDBError(of: handle, sql: sql)) }
            try checkClusterAbort(sql)
            return []
        }
        defer { mysql_free_result(result) }
        let count = Int(mysql_num_fields(result))
        var rows: [[[UInt8]?]] = []
        while let row = mysql_fetch_row(result), let lengths = mysql_fetch_lengths(result) {
            rows.append(
                (0..<count).map { index in
                    row[index].map { [UInt8](UnsafeRawBufferPointer(start: $0, count: Int(lengths[index]))) }
                })
        }
        return rows
    }
}
