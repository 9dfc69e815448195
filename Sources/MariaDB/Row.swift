import CMariaDB

/// A statement's current row. Each column is read once, in the order of the SELECT.
@usableFromInline
package struct Row: ~Copyable {
    private let statement: Statement
    private let handle: UnsafeMutablePointer<MYSQL_STMT>
    private let cells: UnsafeMutablePointer<ResultBuffers.Cell>
    private let count: Int
    private var index = 0

    @usableFromInline
    init(of statement: Statement) {
        self.statement = statement
        handle = statement.handle
        cells = statement.results.cells
        count = statement.columnCount
    }

    // Inlinable, like the generic code in `Readable`, so that it is specialized for the caller's types: every request
    // reads rows.

    /// The next column. Throws if it has another type, if it is NULL and `T` is not an `Optional`, or if no column is
    /// left.
    @inlinable
    package mutating func read<T: Readable>(_: T.Type = T.self) throws(MariaDBError) -> T { try T(next()) }

    @usableFromInline
    mutating func next() throws(MariaDBError) -> Column {
        guard index < count else {
            throw statement.error("more columns are read than the \(count) selected")
        }
        defer { index += 1 }
        return Column(of: statement, handle, index: index, cell: cells + index)
    }

    /// Reading fewer columns than the SELECT has is a mistake, just as reading more is.
    @usableFromInline
    func finish() throws(MariaDBError) {
        guard index == count else {
            throw statement.error("\(index) columns are read of the \(count) selected")
        }
    }
}
