import CMariaDB

/// One prepared statement of one connection, with the memory for its arguments and its row.
///
/// Results are stored (`mysql_stmt_store_result`), not streamed, because there are few rows. So the connection is free
/// for the next statement while rows are read, a lost connection shows before the first row, and if the reader throws
/// an error, no bytes are left on the wire.
@usableFromInline
final class Statement {
    let sql: String
    /// Whether its rows, of which there may be one list, are followed by another answer.
    private let isBlock: Bool
    private(set) var results = ResultBuffers(columns: 0)
    private(set) var columnCount = 0
    /// True between `execute` and `finish`. Nested use of the same SQL then needs a statement of its own.
    private(set) var isRunning = false
    /// When it last ran, counted in statements of the connection; used by the cache.
    var lastUse = 0

    let handle: UnsafeMutablePointer<MYSQL_STMT>
    /// That of `parameters`, each access to which is checked for overlaps at run time.
    private var parameterCount = 0
    private var parameters = ParameterBuffers(count: 0)

    init(_ sql: String, isBlock: Bool = false, on connection: UnsafeMutablePointer<MYSQL>) throws(MariaDBError) {
        guard let handle = mysql_stmt_init(connection) else { throw MariaDBError(of: connection, sql: sql) }
        self.sql = sql
        self.isBlock = isBlock
        self.handle = handle
        guard mysql_stmt_prepare(handle, sql, UInt(sql.utf8.count)) == 0 else { throw failure() }
        parameterCount = Int(mysql_stmt_param_count(handle))
        parameters = ParameterBuffers(count: parameterCount)
    }

    /// After the connection was closed, this only frees memory. Before, it also notifies the server, which does not
    /// answer.
    deinit { mysql_stmt_close(handle) }

    /// Takes one round trip. The rows are then ready for `fetch`.
    func execute(_ arguments: Arguments) throws(MariaDBError) {
        try begin(with: arguments.count)
        do { try parameters.set(arguments) } catch { throw self.error(error.problem) }
        try send()
    }

    /// The same for a block.
    ///
    /// - Parameter arguments: each statement's.
    func execute(_ arguments: [Arguments]) throws(MariaDBError) {
        try begin(with: arguments.reduce(0) { $0 + $1.count })
        do { try parameters.set(arguments) } catch { throw self.error(error.problem) }
        try send()
    }

    private func begin(with count: Int) throws(MariaDBError) {
        precondition(!isRunning, "a row may be read from the cells that this would free")
        guard count == parameterCount else {
            throw error("\(parameterCount) arguments are needed, \(count) are given")
        }
    }

    private func send() throws(MariaDBError) {
        if parameterCount > 0 {
            guard mysql_stmt_bind_param(handle, parameters.binds) == 0 else { throw failure() }
        }
        isRunning = true
        let result = mysql_stmt_execute(handle)
        parameters.trim()
        guard result == 0 else { throw failure() }
        try bindResult()
    }

    /// Takes one round trip for all values, of which there must be at least one. Each value makes a row of arguments.
    /// Only for INSERT, UPDATE, DELETE and REPLACE.
    ///
    /// > mysql_stmt_attr_set(STMT_ATTR_ARRAY_SIZE): Number of array elements. Must be set before mysql_stmt_bind_param.
    ///
    /// - Parameter fill: appends the arguments of a value's row.
    func execute<Value>(_ values: [Value], _ fill: (Value, inout RowsBuffers) -> Void) throws(MariaDBError) {
        precondition(!isRunning)
        var buffers = RowsBuffers(columns: parameterCount, rows: values.count)
        do {
            for value in values {
                fill(value, &buffers)
                try buffers.endRow()
            }
        } catch { throw self.error(error.problem) }
        buffers.finish()
        try setRowCount(values.count)
        guard mysql_stmt_bind_param(handle, buffers.binds) == 0 else { throw failure() }
        isRunning = true
        guard mysql_stmt_execute(handle) == 0 else { throw failure() }
        columnCount = 0
        try setRowCount(0)
    }

    /// 0 means one row, whose values are bound directly and not as arrays.
    private func setRowCount(_ count: Int) throws(MariaDBError) {
        var count = UInt32(count)
        guard mysql_stmt_attr_set(handle, STMT_ATTR_ARRAY_SIZE, &count) == 0 else { throw failure() }
    }

    private func bindResult() throws(MariaDBError) {
        let count = Int(mysql_stmt_field_count(handle))
        guard count > 0 else {
            columnCount = 0
            return
        }
        if count != columnCount {
            results = ResultBuffers(columns: count)
            columnCount = count
        }
        // Bind every time, because Connector/C forgets the bindings whenever it reads the columns again.
        let binds = results.bind(UnsafeBufferPointer(start: mariadb_stmt_fetch_fields(handle), count: count))
        guard mysql_stmt_bind_result(handle, binds) == 0 else { throw failure() }
        guard mysql_stmt_store_result(handle) == 0 else { throw failure() }
        if isBlock { try endBlock() }
    }

    /// Reads the answer that follows the rows, so that the connection is free for the next statement.
    private func endBlock() throws(MariaDBError) {
        guard let connection = handle.pointee.mysql else { return }
        if mysql_next_result(connection) > 0 { throw MariaDBError(of: connection, sql: sql) }
    }

    /// Moves to the next row; returns false after the last one.
    @usableFromInline
    func fetch() throws(MariaDBError) -> Bool {
        switch mysql_stmt_fetch(handle) {
        // The result is "truncated" because byte columns are bound without a buffer, see `ResultBuffers`.
        case 0, MYSQL_DATA_TRUNCATED: return true
        case MYSQL_NO_DATA: return false
        default: throw failure()
        }
    }

    /// Frees the stored rows. Call this after every `execute` that succeeded.
    @usableFromInline
    func finish() {
        if columnCount > 0 { mysql_stmt_free_result(handle) }
        // Only a CALL has more than one result; all but the first are dropped.
        while mysql_stmt_more_results(handle) != 0, mysql_stmt_next_result(handle) == 0 {}
        isRunning = false
    }

    var outcome: Outcome {
        Outcome(
            affectedRows: Int(truncatingIfNeeded: mysql_stmt_affected_rows(handle)),
            lastInsertID: Int(truncatingIfNeeded: mysql_stmt_insert_id(handle)),
            warningCount: Int(handle.pointee.upsert_status.warning_count))
    }

    func columnName(_ index: Int) -> String {
        mariadb_stmt_fetch_fields(handle).map { String(cString: $0[index].name) } ?? ""
    }

    func error(_ message: String) -> MariaDBError { MariaDBError(message, sql: sql) }

    func failure() -> MariaDBError {
        MariaDBError(
            code: Int(mysql_stmt_errno(handle)), sqlState: String(cString: mysql_stmt_sqlstate(handle)),
            serverMessage: String(cString: mysql_stmt_error(handle)), sql: sql)
    }
}

extension MariaDBError {
    init(of connection: UnsafeMutablePointer<MYSQL>, sql: String) {
        self.init(
            code: Int(mysql_errno(connection)), sqlState: String(cString: mysql_sqlstate(connection)),
            serverMessage: String(cString: mysql_error(connection)), sql: sql)
    }
}
