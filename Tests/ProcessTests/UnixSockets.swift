import Glibc
import TestSupport

/// A listening unix socket, as a service manager holds one.
final class Listener: Sendable {
    let descriptor: Int32

    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard withUnixAddress(path, { bind(descriptor, $0, $1) }) == 0, listen(descriptor, 128) == 0 else {
            throw TestSupportError("listen on \(path)", code: errno)
        }
    }

    deinit { close(descriptor) }
}

/// Receives a service's notifications to its manager (sd_notify(3)).
final class NotifySocket: Sendable {
    private let descriptor: Int32

    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard withUnixAddress(path, { bind(descriptor, $0, $1) }) == 0 else {
            throw TestSupportError("bind \(path)", code: errno)
        }
        var timeout = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    /// Reads messages until one has this line.
    ///
    /// - Returns: the lines of all messages.
    func wait(for line: String) throws -> [String] {
        var lines: [String] = []
        while !lines.contains(line) {
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { throw TestSupportError("no \(line) after \(lines)") }
            lines += String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n").map(String.init)
        }
        return lines
    }
}

private func withUnixAddress<T>(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> T) -> T {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
    return withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
}
