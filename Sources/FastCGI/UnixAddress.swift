internal import CFastCGI
internal import Glibc

func environmentVariable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

/// The longest path that fits into `sockaddr_un.sun_path` with a terminating zero, in bytes (unix(7)).
let unixPathLimit = 107

/// - Parameter path: a name in the file system, or `@` and a name in the abstract namespace; at most `unixPathLimit`
///   bytes.
func withUnixAddress<T>(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> T) -> T {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8.prefix(unixPathLimit))
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    if bytes.first == UInt8(ascii: "@") { address.sun_path.0 = 0 }
    let length = MemoryLayout<sa_family_t>.size + bytes.count
    return withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(length)) }
    }
}

/// Connects to a stream socket.
///
/// - Parameter path: in the file system.
/// - Returns: a descriptor that the caller closes; nil if nobody listens there.
package func connectToUnixSocket(_ path: String) -> Int32? {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    guard path.utf8.count <= unixPathLimit, withUnixAddress(path, { connect(descriptor, $0, $1) }) == 0 else {
        close(descriptor)
        return nil
    }
    return descriptor
}
