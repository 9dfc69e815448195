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

    private(set) var kinds: [Kind] = []
    /// Integers and the bit patterns of doubles.
    let numbers: UnsafeMutablePointer<UInt64>
    let times: UnsafeMutablePointer<MYSQL_TIME>
    private let lengths: UnsafeMutablePointer<UInt>
    private let nulls: UnsafeMutablePointer<my_bool>
    private let binds: UnsafeMutablePointer<MYSQL_BIND>

    init(columns count: Int) {
        numbers = .allocate(capacity: count)
        times = .allocate(capacity: count)
        lengths = .allocate(capacity: count)
        nulls = .allocate(capacity: count)
        binds = .allocate(capacity: count)
        binds.initialize(repeating: MYSQL_BIND(), count: count)
    }

    deinit {
        numbers.deallocate()
        times.deallocate()
        lengths.deallocate()
        nulls.deallocate()
        binds.deallocate()
    }

    func isNull(_ index: Int) -> Bool { nulls[index] != 0 }

    func length(_ index: Int) -> Int { Int(lengths[index]) }

    /// The cells for these columns. A column's type can change from one execution to the next: `SELECT ?` has the type
    /// of its argument.
    mutating func bind(_ fields: UnsafeBufferPointer<MYSQL_FIELD>) -> UnsafeMutablePointer<MYSQL_BIND> {
        guard !kinds.elementsEqual(fields.lazy.map(Self.kind)) else { return binds }
        kinds = fields.map(Self.kind)
        for (index, kind) in kinds.enumerated() {
            var bind = MYSQL_BIND()
            bind.is_null = nulls + index
            bind.length = lengths + index
            switch kind {
            case .signed, .unsigned:
                bind.buffer_type = MYSQL_TYPE_LONGLONG
                bind.is_unsigned = kind == .unsigned ? 1 : 0
                bind.buffer = UnsafeMutableRawPointer(numbers + index)
            case .double:
                bind.buffer_type = MYSQL_TYPE_DOUBLE
                bind.buffer = UnsafeMutableRawPointer(numbers + index)
            case .time:
                bind.buffer_type = MYSQL_TYPE_DATETIME
                bind.buffer = UnsafeMutableRawPointer(times + index)
            case .text, .decimal, .null:
                bind.buffer_type = MYSQL_TYPE_BLOB
                bind.buffer = UnsafeMutableRawPointer(numbers + index)
                bind.buffer_length = 0
            }
            binds[index] = bind
        }
        return binds
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
