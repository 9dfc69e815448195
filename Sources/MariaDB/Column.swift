import CMariaDB
import Text
package import Time

/// One column of a statement's current row. Whoever gets it borrows it, so nobody can keep it longer than the row.
@usableFromInline
package struct Column: ~Copyable {
    // The row keeps these, so they are not retained for each column.
    private unowned(unsafe) let statement: Statement
    private let handle: UnsafeMutablePointer<MYSQL_STMT>
    private let index: Int
    private let cell: UnsafePointer<ResultBuffers.Cell>

    init(
        of statement: Statement, _ handle: UnsafeMutablePointer<MYSQL_STMT>, index: Int,
        cell: UnsafePointer<ResultBuffers.Cell>
    ) {
        self.statement = statement
        self.handle = handle
        self.index = index
        self.cell = cell
    }

    /// The column's name in the result, as set by AS.
    package var name: String { statement.columnName(index) }

    @usableFromInline
    package var isNull: Bool { cell.pointee.null != 0 }

    package func signed() throws(MariaDBError) -> Int64 {
        switch try kind() {
        case .signed: return Int64(bitPattern: cell.pointee.number)
        case .unsigned:
            guard let value = Int64(exactly: cell.pointee.number) else {
                throw error("is above the largest Int64")
            }
            return value
        case .decimal:
            guard let value = Int64(try text()) else { throw error("is not a whole number in the range of Int64") }
            return value
        default: throw mismatch("an integer")
        }
    }

    package func unsigned() throws(MariaDBError) -> UInt64 {
        switch try kind() {
        case .unsigned: return cell.pointee.number
        case .signed:
            guard let value = UInt64(exactly: Int64(bitPattern: cell.pointee.number)) else {
                throw error("is negative")
            }
            return value
        case .decimal:
            guard let value = UInt64(try text()) else { throw error("is not a whole number in the range of UInt64") }
            return value
        default: throw mismatch("an integer")
        }
    }

    package func double() throws(MariaDBError) -> Double {
        guard try kind() == .double else { throw mismatch("a DOUBLE") }
        return Double(bitPattern: cell.pointee.number)
    }

    /// Character data, or binary data that is valid UTF-8.
    package func text() throws(MariaDBError) -> String {
        guard try kind().isBytes else { throw mismatch("text") }
        let length = Int(cell.pointee.length)
        var text: String?
        do {
            text = try withUnsafeTemporaryAllocation(byteCount: length, alignment: 1) { buffer in
                try copy(into: buffer)
                // `String(validating:as:)` is generic, and would look up its types for each column.
                let bytes = UnsafeBufferPointer(buffer.bindMemory(to: UInt8.self))
                guard let characters = try? UTF8Span(validating: bytes.span) else { return nil }
                return String(copying: characters)
            }
        } catch let error as MariaDBError {
            throw error
        } catch {
            throw self.error("cannot be read")
        }
        guard let text else { throw error("is not valid UTF-8") }
        return text
    }

    package func bytes() throws(MariaDBError) -> [UInt8] {
        guard try kind().isBytes else { throw mismatch("bytes") }
        let length = Int(cell.pointee.length)
        return try [UInt8](filling: length) { bytes throws(MariaDBError) in
            try copy(into: UnsafeMutableRawBufferPointer(bytes))
        }
    }

    /// A `BINARY(16)` as a UUID's halves, the most significant byte first.
    package func uuid() throws(MariaDBError) -> (high: UInt64, low: UInt64) {
        guard try kind().isBytes else { throw mismatch("a UUID") }
        guard cell.pointee.length == 16 else { throw error("is not a UUID, which has 16 bytes") }
        var halves: (high: UInt64, low: UInt64) = (0, 0)
        try withUnsafeMutableBytes(of: &halves) { bytes throws(MariaDBError) in
            try copy(into: bytes)
        }
        return (UInt64(bigEndian: halves.high), UInt64(bigEndian: halves.low))
    }

    /// A DATETIME, TIMESTAMP or DATE, read as UTC; microseconds are truncated to milliseconds.
    package func timestamp() throws(MariaDBError) -> Timestamp {
        guard try kind() == .time else { throw mismatch("a DATETIME") }
        let time = cell.pointee.time
        guard (1...12).contains(time.month), (1...31).contains(time.day) else { throw error("is a zero date") }
        return Timestamp(
            CivilTime(
                year: Int(time.year), month: Int(time.month), day: Int(time.day), hour: Int(time.hour),
                minute: Int(time.minute), second: Int(time.second), millisecond: Int(time.second_part) / 1000))
    }

    /// `buffer` must be as long as the column.
    private func copy(into buffer: UnsafeMutableRawBufferPointer) throws(MariaDBError) {
        var bind = MYSQL_BIND()
        bind.buffer_type = MYSQL_TYPE_BLOB
        bind.buffer = buffer.baseAddress
        bind.buffer_length = UInt(buffer.count)
        guard mysql_stmt_fetch_column(handle, &bind, UInt32(index), 0) == 0 else { throw statement.failure() }
    }

    /// An error that names this column and the statement; `problem` must not have the value.
    @usableFromInline
    package func error(_ problem: String) -> MariaDBError {
        statement.error("column \(index + 1) (\(name)) \(problem)")
    }

    private func kind() throws(MariaDBError) -> ResultBuffers.Kind {
        guard !isNull else { throw error("is NULL, but is not read as an Optional") }
        return cell.pointee.kind
    }

    private func mismatch(_ wanted: String) -> MariaDBError {
        error("is read as \(wanted), but is \(cell.pointee.kind.description)")
    }
}
