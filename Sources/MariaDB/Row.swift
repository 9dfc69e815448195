/// The row a statement stands on. Its columns are read once each, in the order of the SELECT.
@usableFromInline
package struct Row: ~Copyable {
    private let statement: Statement
    private var index = 0

    init(of statement: Statement) { self.statement = statement }

    // Inlinable, like what is generic in `Readable`, so that the caller's types are known here: every request reads rows.

    /// The next column. Fails when it is NULL and `T` is no `Optional`, of another type, or when there is none left.
    @inlinable
    package mutating func read<T: Readable>(_: T.Type = T.self) throws(MariaDBError) -> T { try T(next()) }

    @usableFromInline
    mutating func next() throws(MariaDBError) -> Column {
        guard index < statement.columnCount else {
            throw statement.error("more columns are read than the \(statement.columnCount) selected")
        }
        defer { index += 1 }
        return Column(of: statement, index: index)
    }

    /// Reading fewer columns than selected is as much a mistake as reading more.
    func finish() throws(MariaDBError) {
        guard index == statement.columnCount else {
            throw statement.error("\(index) columns are read of the \(statement.columnCount) selected")
        }
    }
}
