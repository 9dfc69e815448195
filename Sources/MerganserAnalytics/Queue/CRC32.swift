/// The checksum of gzip (RFC 1952 §8) and of the queue's records.
struct CRC32: Sendable {
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
    }

    static func of(_ bytes: some Sequence<UInt8>) -> UInt32 {
        table.withUnsafeBufferPointer { table in
            ~bytes.reduce(UInt32.max) { value, byte in table[Int((value ^ UInt32(byte)) & 0xFF)] ^ value >> 8 }
        }
    }
}
