import CMariaDB

/// The memory in which Connector/C puts the columns of a row: numbers and times into fixed cells, and of all other
/// columns only the length.
///
/// `mysql_stmt_fetch_column` copies byte columns once, directly into the `String` or array that the caller gets. So no
/// buffer has to be as long as the longest value, and a long value leaves no memory behind.
struct ResultBuffers: ~Copyable {
    enum Kind: Equatable {
        case signed, unsigned, double, decimal, time, text, null

        var isBytes: Bool { self == .text || self == .decimal }

        var description: String {
            switch self {
            case .signed: "an integer"
            case .unsigned: "an unsigned integer"
            case .double: "a DOUBLE"
            case .decimal: "a DECIMAL"
            case .time: "a DATETIME"
            case .text: "text or bytes"
            case .null: "NULL"
            }
        }
    }

    /// One column.
    struct Cell {
        fileprivate(set) var kind = Kind.null
        /// An integer, or the bit pattern of a double.
        var number: UInt64 = 0
        var time = MYSQL_TIME()
        var length: UInt = 0
        var null: my_bool = 0
    }

    private let count: Int
    let cells: UnsafeMutablePointer<Cell>
    private let binds: UnsafeMutablePointer<MYSQL_BIND>

    init(columns count: Int) {
        self.count = count
        cells = .allocate(capacity: count)
        cells.initialize(repeating: Cell(), count: count)
        binds = .allocate(capacity: count)
        binds.initialize(repeating: MYSQL_BIND(), count: count)
        for index in 0..<count { describe(index, as: .null) }
    }

    deinit {
        cells.deallocate()
        binds.deallocate()
    }

    /// The cells for these columns. A column's type can change from one execution to the next: `SELECT ?` has the type
    /// of its argument.
    func bind(_ fields: UnsafeBufferPointer<MYSQL_FIELD>) -> UnsafeMutablePointer<MYSQL_BIND> {
        precondition(fields.count == count)
        for index in 0..<count {
            let kind = Self.kind(of: fields[index])
            if kind != cells[index].kind { describe(index, as: kind) }
        }
        return binds
    }

    private func describe(_ index: Int, as kind: Kind) {
        let cell = cells + index
        cell.pointee.kind = kind
        var bind = MYSQL_BIND()
        bind.is_null = cell.pointer(to: \.null)
        bind.length = cell.pointer(to: \.length)
        switch kind {
        case .signed, .unsigned:
            bind.buffer_type = MYSQL_TYPE_LONGLONG
            bind.is_unsigned = kind == .unsigned ? 1 : 0
            bind.buffer = UnsafeMutableRawPointer(cell.pointer(to: \.number))
        case .double:
            bind.buffer_type = MYSQL_TYPE_DOUBLE
            bind.buffer = UnsafeMutableRawPointer(cell.pointer(to: \.number))
        case .time:
            bind.buffer_type = MYSQL_TYPE_DATETIME
            bind.buffer = UnsafeMutableRawPointer(cell.pointer(to: \.time))
        case .text, .decimal, .null:
            bind.buffer_type = MYSQL_TYPE_BLOB
            bind.buffer = UnsafeMutableRawPointer(cell.pointer(to: \.number))
            bind.buffer_length = 0
        }
        binds[index] = bind
    }

    private static func kind(of field: MYSQL_FIELD) -> Kind {
        switch field.type {
        case MYSQL_TYPE_TINY, MYSQL_TYPE_SHORT, MYSQL_TYPE_INT24, MYSQL_TYPE_LONG, MYSQL_TYPE_LONGLONG,
            MYSQL_TYPE_YEAR:
            field.flags & UInt32(UNSIGNED_FLAG) == 0 ? .signed : .unsigned
        case MYSQL_TYPE_FLOAT, MYSQL_TYPE_DOUBLE: .double
        case MYSQL_TYPE_DECIMAL, MYSQL_TYPE_NEWDECIMAL: .decimal
        case MYSQL_TYPE_DATE, MYSQL_TYPE_DATETIME, MYSQL_TYPE_TIMESTAMP: .time
        case MYSQL_TYPE_NULL: .null
        default: .text
        }
    }
}
