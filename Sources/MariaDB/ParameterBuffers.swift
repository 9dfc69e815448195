import CMariaDB
import Time

/// The arguments of one execution in the form that Connector/C takes; the memory is reused for the next execution.
struct ParameterBuffers: ~Copyable {
    let count: Int
    let binds: UnsafeMutablePointer<MYSQL_BIND>
    /// Integers, the bit patterns of doubles, and for all other values their offset in `bytes`.
    private let numbers: UnsafeMutablePointer<UInt64>
    private let lengths: UnsafeMutablePointer<UInt>
    private var bytes = ArgumentBytes()
    /// The last time, of this execution or of one before, because most times of a statement are the same.
    private var last: (timestamp: Timestamp, time: MYSQL_TIME)?
    /// How many arguments were appended.
    private var used = 0

    init(count: Int) {
        self.count = count
        binds = .allocate(capacity: count)
        binds.initialize(repeating: MYSQL_BIND(), count: count)
        numbers = .allocate(capacity: count)
        lengths = .allocate(capacity: count)
    }

    deinit {
        binds.deallocate()
        numbers.deallocate()
        lengths.deallocate()
    }

    /// Fills `binds`. Throws an error that describes an argument that cannot be sent.
    ///
    /// - Parameter arguments: `count`.
    mutating func set(_ arguments: Arguments) throws(UnsendableArgument) {
        removeAll()
        try append(contentsOf: arguments)
        finish()
    }

    /// The same with those of several statements, one after the other.
    mutating func set(_ arguments: [Arguments]) throws(UnsendableArgument) {
        removeAll()
        for index in arguments.indices { try append(contentsOf: arguments[index]) }
        finish()
    }

    private mutating func removeAll() {
        used = 0
        bytes.removeAll()
    }

    private mutating func append(contentsOf arguments: Arguments) throws(UnsendableArgument) {
        precondition(arguments.count <= count - used, "each argument has its memory")
        for index in arguments.indices {
            try set(used, to: arguments[index].parameter)
            used += 1
        }
    }

    /// This comes last, because `bytes` moves while it grows.
    private mutating func finish() {
        precondition(used == count, "the statement has no other arguments")
        for index in 0..<count where binds[index].buffer == nil && binds[index].buffer_type != MYSQL_TYPE_NULL {
            binds[index].buffer = bytes[Int(numbers[index])]
        }
    }

    /// Call this after the execution.
    mutating func trim() { bytes.trim() }

    private mutating func set(_ index: Int, to parameter: Parameter) throws(UnsendableArgument) {
        var bind = MYSQL_BIND()
        switch parameter {
        case .null:
            bind.buffer_type = MYSQL_TYPE_NULL
        case .signed(let value):
            numbers[index] = UInt64(bitPattern: value)
            bind.buffer_type = MYSQL_TYPE_LONGLONG
            bind.buffer = UnsafeMutableRawPointer(numbers + index)
        case .unsigned(let value):
            numbers[index] = value
            bind.buffer_type = MYSQL_TYPE_LONGLONG
            bind.is_unsigned = 1
            bind.buffer = UnsafeMutableRawPointer(numbers + index)
        case .double(let value):
            numbers[index] = value.bitPattern
            bind.buffer_type = MYSQL_TYPE_DOUBLE
            bind.buffer = UnsafeMutableRawPointer(numbers + index)
        case .text(let text):
            place(bytes.append(text), index)
            bind.buffer_type = MYSQL_TYPE_STRING
            bind.length = lengths + index
        case .bytes(let value):
            place(bytes.append(value), index)
            bind.buffer_type = MYSQL_TYPE_BLOB
            bind.length = lengths + index
        case .uuid(let high, let low):
            place(bytes.appendUUID(high: high, low: low), index)
            bind.buffer_type = MYSQL_TYPE_BLOB
            bind.length = lengths + index
        case .time(let timestamp):
            guard let time = last?.timestamp == timestamp ? last?.time : MYSQL_TIME(timestamp) else {
                throw UnsendableArgument(problem: "argument \(index + 1) is a time outside the years 1…9999")
            }
            last = (timestamp, time)
            place(bytes.append(time), index)
            bind.buffer_type = MYSQL_TYPE_DATETIME
        }
        binds[index] = bind
    }

    private func place(_ range: Range<Int>, _ index: Int) {
        numbers[index] = UInt64(range.lowerBound)
        lengths[index] = UInt(range.count)
    }
}

struct UnsendableArgument: Error {
    let problem: String
}
