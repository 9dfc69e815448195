import CMariaDB
import Time

/// The arguments of one execution for many rows (`COM_STMT_BULK_EXECUTE`) in the form Connector/C takes them: one
/// binding a column, which points at an array with a cell a row.
///
/// A column has one type, that of its first value that is not NULL.
struct RowsBuffers: ~Copyable {
    let binds: UnsafeMutablePointer<MYSQL_BIND>
    private let columns: Int
    private let rows: Int
    /// Column by column, as the ones below. Connector/C counts steps of eight bytes in an array of numbers, and takes an
    /// array of pointers for everything that has no fixed length, times included.
    private let numbers: UnsafeMutablePointer<UInt64>
    private let pointers: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    private let times: UnsafeMutablePointer<MYSQL_TIME>
    private let lengths: UnsafeMutablePointer<UInt>
    private let indicators: UnsafeMutablePointer<CChar>
    /// The characters of all text arguments, one after another.
    private let bytes: UnsafeMutableRawBufferPointer
    private var used = 0

    init(_ rows: [[Parameter]], columns: Int) throws(UnsendableArgument) {
        self.columns = columns
        self.rows = rows.count
        let cells = columns * rows.count
        binds = .allocate(capacity: columns)
        binds.initialize(repeating: MYSQL_BIND(), count: columns)
        numbers = .allocate(capacity: cells)
        pointers = .allocate(capacity: cells)
        pointers.initialize(repeating: nil, count: cells)
        times = .allocate(capacity: cells)
        lengths = .allocate(capacity: cells)
        lengths.initialize(repeating: 0, count: cells)
        indicators = .allocate(capacity: cells)
        bytes = .allocate(byteCount: rows.joined().reduce(0) { $0 + $1.byteCount }, alignment: 1)
        for column in 0..<columns { try bind(column, rows) }
    }

    deinit {
        binds.deallocate()
        numbers.deallocate()
        pointers.deallocate()
        times.deallocate()
        lengths.deallocate()
        indicators.deallocate()
        bytes.deallocate()
    }

    private mutating func bind(_ column: Int, _ rows: [[Parameter]]) throws(UnsendableArgument) {
        let cells = column * self.rows
        var bind = MYSQL_BIND()
        bind.buffer_type = MYSQL_TYPE_NULL
        bind.length = lengths + cells
        bind.u.indicator = indicators + cells
        for (row, arguments) in rows.enumerated() {
            let (cell, argument) = (cells + row, arguments[column])
            if case .null = argument {
                indicators[cell] = CChar(STMT_INDICATOR_NULL.rawValue)
                continue
            }
            indicators[cell] = CChar(STMT_INDICATOR_NONE.rawValue)
            if bind.buffer_type == MYSQL_TYPE_NULL {
                bind.buffer_type = argument.bufferType
                bind.is_unsigned = argument.isUnsigned ? 1 : 0
                bind.buffer =
                    argument.hasNumber
                    ? UnsafeMutableRawPointer(numbers + cells) : UnsafeMutableRawPointer(pointers + cells)
            }
            guard bind.buffer_type == argument.bufferType, (bind.is_unsigned != 0) == argument.isUnsigned else {
                throw UnsendableArgument(
                    problem: "argument \(column + 1) has another type in row \(row + 1) than in the rows before")
            }
            switch argument {
            case .null: break
            case .signed(let value): numbers[cell] = UInt64(bitPattern: value)
            case .unsigned(let value): numbers[cell] = value
            case .double(let value): numbers[cell] = value.bitPattern
            case .text(let text):
                var text = text
                text.withUTF8 { append(UnsafeRawBufferPointer($0), cell) }
            case .bytes(let value): value.withUnsafeBytes { append($0, cell) }
            case .time(let timestamp):
                guard let time = MYSQL_TIME(timestamp) else {
                    throw UnsendableArgument(problem: "argument \(column + 1) is a time outside the years 1…9999")
                }
                times[cell] = time
                pointers[cell] = UnsafeMutableRawPointer(times + cell)
            }
        }
        binds[column] = bind
    }

    private mutating func append(_ value: UnsafeRawBufferPointer, _ cell: Int) {
        let place = UnsafeMutableRawBufferPointer(rebasing: bytes[used...])
        place.copyMemory(from: value)
        pointers[cell] = place.baseAddress
        lengths[cell] = UInt(value.count)
        used += value.count
    }
}

extension Parameter {
    fileprivate var byteCount: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .bytes(let value): value.count
        default: 0
        }
    }

    fileprivate var bufferType: enum_field_types {
        switch self {
        case .null: MYSQL_TYPE_NULL
        case .signed, .unsigned: MYSQL_TYPE_LONGLONG
        case .double: MYSQL_TYPE_DOUBLE
        case .text: MYSQL_TYPE_STRING
        case .bytes: MYSQL_TYPE_BLOB
        case .time: MYSQL_TYPE_DATETIME
        }
    }

    fileprivate var hasNumber: Bool { [MYSQL_TYPE_LONGLONG, MYSQL_TYPE_DOUBLE].contains(bufferType) }

    fileprivate var isUnsigned: Bool {
        if case .unsigned = self { true } else { false }
    }
}

extension MYSQL_TIME {
    /// Nil outside the years that a DATETIME can hold.
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
