import CMariaDB

/// The bytes of arguments that are not numbers, such as texts and times, one after another.
struct ArgumentBytes: ~Copyable {
    private var buffer: UnsafeMutableRawBufferPointer
    private var used = 0

    /// - Parameter capacity: how many bytes will probably be needed.
    init(capacity: Int = leastCapacity) { buffer = Self.allocate(max(capacity, Self.leastCapacity)) }

    deinit { buffer.deallocate() }

    static let leastCapacity = 256
    /// `trim` frees memory beyond this size, in bytes.
    private static let keptCapacity = 16_384

    private static func allocate(_ count: Int) -> UnsafeMutableRawBufferPointer {
        .allocate(byteCount: count, alignment: timeAlignment)
    }

    /// Valid until bytes are added.
    subscript(offset: Int) -> UnsafeMutableRawPointer? { buffer.baseAddress.map { $0 + offset } }

    /// - Returns: where it begins and how long it is.
    mutating func append(_ text: String) -> Range<Int> {
        var text = text
        return text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    mutating func append(_ bytes: [UInt8]) -> Range<Int> { bytes.withUnsafeBytes { append($0) } }

    mutating func appendUUID(high: UInt64, low: UInt64) -> Range<Int> {
        withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { append($0) }
    }

    mutating func append(_ time: MYSQL_TIME) -> Range<Int> {
        _ = grow(by: (timeAlignment - used % timeAlignment) % timeAlignment)
        return withUnsafeBytes(of: time) { append($0) }
    }

    private mutating func append(_ value: UnsafeRawBufferPointer) -> Range<Int> {
        let range = grow(by: value.count)
        UnsafeMutableRawBufferPointer(rebasing: buffer[range]).copyMemory(from: value)
        return range
    }

    private mutating func grow(by count: Int) -> Range<Int> {
        if used + count > buffer.count {
            let larger = Self.allocate(max(used + count, buffer.count * 2))
            larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[..<used]))
            buffer.deallocate()
            buffer = larger
        }
        defer { used += count }
        return used..<used + count
    }

    mutating func removeAll() { used = 0 }

    mutating func trim() {
        guard buffer.count > Self.keptCapacity else { return }
        buffer.deallocate()
        buffer = Self.allocate(Self.leastCapacity)
    }
}

private let timeAlignment = MemoryLayout<MYSQL_TIME>.alignment
