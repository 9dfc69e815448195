extension Connection {
    /// Runs a statement and ignores its rows, if it has any.
    @discardableResult
    package func execute(_ sql: StaticString, _ arguments: any Bindable...) throws(MariaDBError) -> Outcome {
        try execute(sql, arguments: arguments)
    }

    @discardableResult
    package func execute(_ sql: StaticString, arguments: Arguments) throws(MariaDBError) -> Outcome {
        try execute(.literal(sql), arguments)
    }

    @discardableResult
    package func execute(_ sql: ComposedSQL) throws(MariaDBError) -> Outcome {
        try execute(.composed(sql.text), sql.arguments)
    }

    @discardableResult
    func execute(_ key: StatementKey, _ arguments: Arguments) throws(MariaDBError) -> Outcome {
        try prepareForStatement()
        let statement = try run(key, arguments)
        defer { statement.finish() }
        return statement.outcome
    }

    /// Runs an INSERT, UPDATE, DELETE or REPLACE once for each value, in order and in one round trip (MariaDB's bulk
    /// protocol). If there are no values, nothing is sent.
    ///
    /// Use it only inside a transaction: if a row fails, the changes of the rows before it remain. All values of a
    /// column have one type or are NULL.
    /// - Parameter arguments: makes the row of arguments from a value.
    /// - Returns: how many rows were affected by all executions together.
    @discardableResult
    package func executeMany<Value>(
        _ sql: StaticString, _ values: [Value], arguments: (Value) -> Arguments
    ) throws(MariaDBError) -> Outcome {
        try executeMany(.literal(sql), values) { value, row in row.append(contentsOf: arguments(value)) }
    }

    /// The same for batches of many rows: their arguments are put where they are sent from, without an array.
    ///
    /// - Parameters:
    ///   - sql: without arguments of its own.
    ///   - fill: appends the row of arguments of a value.
    @discardableResult
    package func executeMany<Value>(
        _ sql: ComposedSQL, _ values: [Value], filling fill: (Value, inout RowsBuffers) -> Void
    ) throws(MariaDBError) -> Outcome {
        try executeMany(.composed(sql.text), values, fill)
    }

    private func executeMany<Value>(
        _ key: StatementKey, _ values: [Value], _ fill: (Value, inout RowsBuffers) -> Void
    ) throws(MariaDBError) -> Outcome {
        guard !values.isEmpty else { return Outcome(affectedRows: 0, lastInsertID: 0, warningCount: 0) }
        try prepareForStatement()
        let statement = try run(key) { statement throws(MariaDBError) in try statement.execute(values, fill) }
        defer { statement.finish() }
        return statement.outcome
    }

    /// The same with ready-made rows of arguments.
    @discardableResult
    package func executeMany(_ sql: StaticString, _ rows: [Arguments]) throws(MariaDBError) -> Outcome {
        try executeMany(sql, rows) { $0 }
    }

    /// - Parameter sql: without arguments of its own.
    @discardableResult
    package func executeMany(_ sql: ComposedSQL, _ rows: [Arguments]) throws(MariaDBError) -> Outcome {
        try executeMany(.composed(sql.text), rows) { arguments, row in row.append(contentsOf: arguments) }
    }

    // Inlined, since they would not be specialized for what the caller reads: each row would look up its types.

    /// The first row, or nil if there is none. Throws a `MariaDBError`, or the error that `read` throws.
    @inlinable @inline(__always)
    package func first<T>(
        _ sql: StaticString, _ arguments: any Bindable..., read: (inout Row) throws -> T
    ) throws -> T? {
        try rows(sql, arguments).first(read)
    }

    @inlinable @inline(__always)
    package func first<T>(
        _ sql: StaticString, arguments: Arguments, read: (inout Row) throws -> T
    ) throws -> T? {
        try rows(sql, arguments).first(read)
    }

    @inlinable @inline(__always)
    package func first<T>(_ sql: ComposedSQL, read: (inout Row) throws -> T) throws -> T? { try rows(sql).first(read) }

    /// Every row. Throws a `MariaDBError`, or the error that `read` throws.
    @inlinable @inline(__always)
    package func all<T>(
        _ sql: StaticString, _ arguments: any Bindable..., read: (inout Row) throws -> T
    ) throws -> [T] {
        try rows(sql, arguments).all(read)
    }

    @inlinable @inline(__always)
    package func all<T>(
        _ sql: StaticString, arguments: Arguments, read: (inout Row) throws -> T
    ) throws -> [T] {
        try rows(sql, arguments).all(read)
    }

    @inlinable @inline(__always)
    package func all<T>(_ sql: ComposedSQL, read: (inout Row) throws -> T) throws -> [T] { try rows(sql).all(read) }

    @usableFromInline
    func rows(_ sql: StaticString, _ arguments: Arguments) throws(MariaDBError) -> Statement {
        try runWithRows(.literal(sql), arguments)
    }

    @usableFromInline
    func rows(_ sql: ComposedSQL) throws(MariaDBError) -> Statement {
        try runWithRows(.composed(sql.text), sql.arguments)
    }

    func run(_ key: StatementKey, _ arguments: Arguments) throws(MariaDBError) -> Statement {
        try run(key) { statement throws(MariaDBError) in try statement.execute(arguments) }
    }

    /// - Parameter arguments: those of each of the block's statements.
    func run(_ block: StatementBlock, _ arguments: [Arguments]) throws(MariaDBError) -> Statement {
        try run(.block(block)) { statement throws(MariaDBError) in try statement.execute(arguments) }
    }

    /// Takes one round trip if the statement is in the cache. A statement whose execution failed is removed from the
    /// cache, because its state at either end is unknown.
    private func run(
        _ key: StatementKey, _ execute: (Statement) throws(MariaDBError) -> Void
    ) throws(MariaDBError) -> Statement {
        let start = watch.map { _ in StatementWatch.now }
        do {
            let statement = try statement(for: key)
            try execute(statement)
            try checkClusterAbort(statement.sql)
            if let watch, let start {
                watch.note(since: start, on: self, statement.sql, rows: statement.outcome.affectedRows)
            }
            return statement
        } catch {
            statements[key] = nil
            if let watch, let start { watch.note(since: start, on: self, key.text, error: error) }
            throw note(error)
        }
    }

    private func statement(for key: StatementKey) throws(MariaDBError) -> Statement {
        statementsRun += 1
        if let statement = statements[key] {
            // If the statement's rows are being read further up the stack, it keeps them, and this execution gets a
            // statement of its own.
            guard !statement.isRunning else { return try Statement(key.text, isBlock: key.isBlock, on: handle) }
            statement.lastUse = statementsRun
            return statement
        }
        let statement = try Statement(key.text, isBlock: key.isBlock, on: handle)
        statement.lastUse = statementsRun
        if statements.count >= options.statementCacheLimit,
            let oldest = statements.filter({ !$0.value.isRunning }).min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            statements[oldest.key] = nil
        }
        statements[key] = statement
        return statement
    }
}

/// Of a statement that was executed. `first` and `all` finish it.
extension Statement {
    @inlinable @inline(__always)
    func first<T>(_ read: (inout Row) throws -> T) throws -> T? {
        defer { finish() }
        return try next(read)
    }

    @inlinable @inline(__always)
    func all<T>(_ read: (inout Row) throws -> T) throws -> [T] {
        defer { finish() }
        var rows: [T] = []
        while let row = try next(read) { rows.append(row) }
        return rows
    }

    @inlinable @inline(__always)
    func next<T>(_ read: (inout Row) throws -> T) throws -> T? {
        guard try fetch() else { return nil }
        var row = Row(of: self)
        let value = try read(&row)
        try row.finish()
        return value
    }
}
