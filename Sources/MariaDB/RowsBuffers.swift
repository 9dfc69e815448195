import CMariaDB
import Time

/// The arguments of one execution for many rows (`COM_STMT_BULK_EXECUTE`) in the form that Connector/C takes: one
/// binding for each column, which points at an array with one cell for each row.
///
/// A column has one type, that of its first value that is not NULL.
@usableFromInline
package struct RowsBuffers: ~Copyable {
    let binds: UnsafeMutablePointer<MYSQL_BIND>
    private let columns: Int
    private let rows: Int
    private var count = 0
    /// Integers, the bit patterns of doubles, and for all other values their offset in `bytes`, of which `finish` makes
    /// an address; column by column, like the arrays below. Connector/C steps by eight bytes through an array of numbers.
    /// For all values without a fixed length, and for times, it takes an array of pointers, which have eight bytes, too.
    private let cells: UnsafeMutablePointer<UInt64>
    private let lengths: UnsafeMutablePointer<UInt>
    private let indicators: UnsafeMutablePointer<CChar>
    private var bytes: ArgumentBytes
    /// Of the row that is being filled, the next one.
    private var column = 0
    /// Of the first argument that cannot be sent.
    private var problem: UnsendableArgument?
    private var isFinished = false

    /// - Parameter rows: how many rows will be appended.
    init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
        let count = columns * rows
        // The texts of an event usually take a little less. What is too much costs nothing, unlike a copy into larger memory.
        bytes = ArgumentBytes(capacity: 24 * count)
        precondition(MemoryLayout<UnsafeMutableRawPointer>.size == MemoryLayout<UInt64>.size, "a cell holds a pointer")
        binds = .allocate(capacity: columns)
        binds.initialize(repeating: MYSQL_BIND(), count: columns)
        cells = .allocate(capacity: count)
        cells.initialize(repeating: 0, count: count)
        lengths = .allocate(capacity: count)
        lengths.initialize(repeating: 0, count: count)
        indicators = .allocate(capacity: count)
        for column in 0..<columns {
            binds[column].buffer_type = MYSQL_TYPE_NULL
            binds[column].length = lengths + column * rows
            binds[column].u.indicator = indicators + column * rows
        }
    }

    deinit {
        binds.deallocate()
        cells.deallocate()
        lengths.deallocate()
        indicators.deallocate()
    }

    /// The row's next argument. Inlined, so that it is made for the type of the value.
    @inlinable
    package mutating func append(_ value: some Bindable) { append(parameter: value.parameter) }

    mutating func append(contentsOf values: Arguments) {
        for value in values { append(parameter: value.parameter) }
    }

    /// What cannot be sent is reported at the end of the row.
    @usableFromInline
    package mutating func append(parameter: Parameter) {
        precondition(!isFinished, "the cells have addresses already")
        defer { column += 1 }
        guard column < columns, problem == nil else { return }
        do { try set(to: parameter) } catch { problem = error }
    }

    mutating func endRow() throws(UnsendableArgument) {
        guard column == columns else {
            throw UnsendableArgument(problem: "\(columns) arguments a row are needed, \(column) are given")
        }
        if let problem { throw problem }
        column = 0
        count += 1
    }

    private mutating func set(to argument: Parameter) throws(UnsendableArgument) {
        let cell = column * rows + count
        if case .null = argument {
            indicators[cell] = CChar(STMT_INDICATOR_NULL.rawValue)
            return
        }
        indicators[cell] = CChar(STMT_INDICATOR_NONE.rawValue)
        let (type, isUnsigned) = argument.bufferType
        if binds[column].buffer_type == MYSQL_TYPE_NULL {
            binds[column].buffer_type = type
            binds[column].is_unsigned = isUnsigned ? 1 : 0
        }
        guard binds[column].buffer_type == type, (binds[column].is_unsigned != 0) == isUnsigned else {
            throw UnsendableArgument(
                problem: "argument \(column + 1) has another type in row \(count + 1) than in the rows before")
        }
        switch argument {
        case .null: break
        case .signed(let value): cells[cell] = UInt64(bitPattern: value)
        case .unsigned(let value): cells[cell] = value
        case .double(let value): cells[cell] = value.bitPattern
        case .text(let text): place(bytes.append(text), cell)
        case .bytes(let value): place(bytes.append(value), cell)
        case .uuid(let high, let low): place(bytes.appendUUID(high: high, low: low), cell)
        case .time(let timestamp):
            guard let time = MYSQL_TIME(timestamp) else {
                throw UnsendableArgument(problem: "argument \(column + 1) is a time outside the years 1…9999")
            }
            place(bytes.append(time), cell)
        }
    }

    private func place(_ range: Range<Int>, _ cell: Int) {
        cells[cell] = UInt64(range.lowerBound)
        lengths[cell] = UInt(range.count)
    }

    /// Completes `binds`, once, after all rows were appended, because `bytes` moves while it grows.
    mutating func finish() {
        precondition(!isFinished, "the cells have addresses already")
        isFinished = true
        for column in 0..<columns {
            let type = binds[column].buffer_type
            if type == MYSQL_TYPE_NULL { continue }
            if type != MYSQL_TYPE_LONGLONG, type != MYSQL_TYPE_DOUBLE {
                for cell in column * rows..<(column + 1) * rows {
                    cells[cell] = UInt64(UInt(bitPattern: bytes[Int(cells[cell])]))
                }
            }
            binds[column].buffer = UnsafeMutableRawPointer(cells + column * rows)
        }
    }
}

extension Parameter {
    fileprivate var bufferType: (enum_field_types, isUnsigned: Bool) {
        switch self {
        case .null: (MYSQL_TYPE_NULL, false)
        case .signed: (MYSQL_TYPE_LONGLONG, false)
        case .unsigned: (MYSQL_TYPE_LONGLONG, true)
        case .double: (MYSQL_TYPE_DOUBLE, false)
        case .text: (MYSQL_TYPE_STRING, false)
        case .bytes, .uuid: (MYSQL_TYPE_BLOB, false)
        case .time: (MYSQL_TYPE_DATETIME, false)
        }
    }
}

extension MYSQL_TIME {
    /// nil if the year is outside the range of a DATETIME.
    init?(_ timestamp: Timestamp) {
        let civil = CivilTime(timestamp)
        guard (1...9999).contains(civil.year) else { return nil }
        self.init()
        year = UInt32(civil.year)
        month = UInt32(civil.month)
        day = UInt32(civil.day)
        hour = UInt32(civil.hour)
        minute = UInt32(civil.minute)
        second = UInt32(civil.second)
        second_part = UInt(civil.millisecond * 1000)
        time_type = MYSQL_TIMESTAMP_DATETIME
    }
}
