import Foundation
import MerganserClient

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// One file of the queue: records, each a length, a checksum and that many bytes.
///
///     | length, 4 bytes | CRC-32 of the bytes, 4 bytes | the event's JSON |      little-endian
///
/// A record that a killed process or a crash left incomplete ends the segment: its length or its checksum is wrong.
struct Segment: Sendable, Hashable {
    /// `<milliseconds since 1970, 15 digits>-<random>.events`, so that names sort by age.
    let name: String
    /// In bytes.
    var size: Int

    static let suffix = ".events"
    /// Longer records are nobody's.
    static let longestRecord = 256 * 1024
    private static let headerSize = 8

    init(name: String, size: Int) { (self.name, self.size) = (name, size) }

    /// A new, empty one.
    init(at milliseconds: Int64) {
        let digits = String(max(milliseconds, 0))
        let padding = String(repeating: "0", count: max(0, 15 - digits.utf8.count))
        self.init(name: "\(padding)\(digits)-\(UInt32.random(in: .min ... .max))\(Self.suffix)", size: 0)
    }

    /// When it was begun, in milliseconds since 1970; nil if the name is another's.
    var milliseconds: Int64? { Int64(name.prefix { $0 != "-" }) }

    /// Adds a record to what is written at once.
    static func append(_ record: [UInt8], to bytes: inout [UInt8]) {
        for number in [UInt32(record.count), CRC32.of(record)] {
            for shift in stride(from: 0, to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
        }
        bytes.append(contentsOf: record)
    }

    /// Records as they are written.
    static func bytes(of records: [ArraySlice<UInt8>]) -> [UInt8] {
        var bytes: [UInt8] = []
        for record in records { append(Array(record), to: &bytes) }
        return bytes
    }

    struct Records: Sendable {
        var records: [ArraySlice<UInt8>] = []
        /// Where the next record begins.
        var end: Int
        /// What follows is no record.
        var isDamaged = false
    }

    /// Splits bytes that begin at a record.
    ///
    /// - Parameters:
    ///   - offset: where in the segment they begin.
    ///   - count: how many records at most.
    ///   - bytes: how many bytes of records at most, but at least one record.
    static func records(in content: [UInt8], from offset: Int, atMost count: Int, bytes limit: Int) -> Records {
        var found = Records(end: offset)
        var position = 0
        func number(at index: Int) -> UInt32 {
            (0..<4).reduce(0) { $0 | UInt32(content[index + $1]) << (8 * UInt32($1)) }
        }
        while position < content.count, found.records.count < count {
            guard position + headerSize <= content.count else {
                found.isDamaged = true
                break
            }
            let start = position + headerSize
            let length = Int(number(at: position))
            guard length <= longestRecord, start + length <= content.count,
                CRC32.of(content[start..<start + length]) == number(at: position + 4)
            else {
                found.isDamaged = true
                break
            }
            if !found.records.isEmpty, start + length > limit { break }
            found.records.append(content[start..<start + length])
            position = start + length
        }
        found.end = offset + position
        return found
    }
}

/// An open segment. Its lock tells other processes that somebody writes to it.
final class SegmentFile {
    private let file: Int32
    private let path: String

    /// - Parameter isNew: makes the file; otherwise there is one.
    /// - Throws: `FileFault`.
    init(_ path: String, isNew: Bool) throws(FileFault) {
        self.path = path
        file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_APPEND | (isNew ? O_CREAT | O_EXCL : 0), 0o600)
        guard file >= 0 else { throw FileFault("open \(path)") }
    }

    deinit { close(file) }

    /// False if another process has it.
    func lock() -> Bool { flock(file, LOCK_EX | LOCK_NB) == 0 }

    /// Whether the file that was opened still has the name: another process may have replaced it before it was locked.
    var hasItsName: Bool {
        var (own, named) = (stat(), stat())
        return fstat(file, &own) == 0 && stat(path, &named) == 0 && own.st_ino == named.st_ino
    }

    /// All or nothing.
    ///
    /// - Parameter size: the file's size so far.
    func append(_ bytes: [UInt8], at size: Int) throws(FileFault) {
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let fault = FileFault("write \(path)")
                // What is not cut now is cut as a torn record by whoever reads it.
                _ = ftruncate(file, off_t(size))
                throw fault
            }
            written += count
        }
    }

    func read(from offset: Int, atMost count: Int) throws(FileFault) -> [UInt8] {
        var failed: FileFault?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let read = pread(file, buffer.baseAddress?.advanced(by: filled), count - filled, off_t(offset + filled))
                if read < 0, errno == EINTR { continue }
                if read < 0 { failed = FileFault("read \(path)") }
                guard read > 0 else { return }
                filled += read
            }
        }
        if let failed { throw failed }
        return bytes
    }

    func synchronize() throws(FileFault) {
        guard fsync(file) == 0 else { throw FileFault("fsync \(path)") }
    }
}
