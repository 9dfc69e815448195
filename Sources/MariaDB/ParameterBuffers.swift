import CMariaDB
import Time

/// The arguments of one execution in the form Connector/C takes them; the memory is kept for the next execution.
struct ParameterBuffers: ~Copyable {
    let count: Int
    let binds: UnsafeMutablePointer<MYSQL_BIND>
    /// Integers, the bit patterns of doubles, and where in `bytes` a text begins.
    private let numbers: UnsafeMutablePointer<UInt64>
    private let times: UnsafeMutablePointer<MYSQL_TIME>
    private let lengths: UnsafeMutablePointer<UInt>
    /// The characters of all text arguments, one after another.
    private var bytes: UnsafeMutableRawBufferPointer
    private var used = 0

    /// More than this is given back after the execution that needed it.
    private static let keptCapacity = 16_384

    init(count: Int) {
        self.count = count
        binds = .allocate(capacity: count)
        binds.initialize(repeating: MYSQL_BIND(), count: count)
        numbers = .allocate(capacity: count)
        times = .allocate(capacity: count)
        lengths = .allocate(capacity: count)
        bytes = .allocate(byteCount: 256, alignment: 1)
    }

    deinit {
        binds.deallocate()
        numbers.deallocate()
        times.deallocate()
        lengths.deallocate()
        bytes.deallocate()
    }

    /// Fills `binds`; fails with a description of what cannot be sent.
    mutating func set(_ arguments: [(any Bindable)?]) throws(UnsendableArgument) {
        used = 0
        for (index, argument) in arguments.enumerated() { try set(index, to: argument?.parameter ?? .null) }
        // Only now, because `bytes` may have moved while it grew.
        for index in 0..<count where binds[index].buffer == nil && binds[index].buffer_type != MYSQL_TYPE_NULL {
            binds[index].buffer = bytes.baseAddress.map { $0 + Int(numbers[index]) }
        }
    }

    mutating func trim() {
        guard bytes.count > Self.keptCapacity else { return }
        bytes.deallocate()
        bytes = .allocate(byteCount: 256, alignment: 1)
    }

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
            var text = text
            bind.buffer_type = MYSQL_TYPE_STRING
            text.withUTF8 { append(UnsafeRawBufferPointer($0), index) }
            bind.length = lengths + index
        case .bytes(let value):
            bind.buffer_type = MYSQL_TYPE_BLOB
            value.withUnsafeBytes { append($0, index) }
            bind.length = lengths + index
        case .time(let timestamp):
            guard let time = MYSQL_TIME(timestamp) else {
                throw UnsendableArgument(problem: "argument \(index + 1) is a time outside the years 1…9999")
            }
            times[index] = time
            bind.buffer_type = MYSQL_TYPE_DATETIME
            bind.buffer = UnsafeMutableRawPointer(times + index)
        }
        binds[index] = bind
    }

    private mutating func append(_ value: UnsafeRawBufferPointer, _ index: Int) {
        if used + value.count > bytes.count {
            let larger = UnsafeMutableRawBufferPointer.allocate(
                byteCount: max(used + value.count, bytes.count * 2), alignment: 1)
            larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<used]))
            bytes.deallocate()
            bytes = larger
        }
        UnsafeMutableRawBufferPointer(rebasing: bytes[used...]).copyMemory(from: value)
        numbers[index] = UInt64(used)
        lengths[index] = UInt(value.count)
        used += value.count
    }
}

struct UnsendableArgument: Error {
    let problem: String
}
