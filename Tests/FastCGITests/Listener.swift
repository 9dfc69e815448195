import Glibc
import TestSupport

/// A listening socket that another process holds and passes on, as systemd does for a socket unit.
final class Listener: Sendable {
    let path: String
    let descriptor: Int32
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("shared.sock")
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard bindUnix(descriptor, path) == 0, listen(descriptor, 1024) == 0 else {
            throw TestSupportError("listen \(path)", code: errno)
        }
    }

    deinit { close(descriptor) }
}

/// - Parameter name: a path, or `@` and a name in the abstract namespace.
func bindUnix(_ descriptor: Int32, _ name: String) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name.utf8.prefix($0.count - 1)) }
    if name.hasPrefix("@") { address.sun_path.0 = 0 }
    let length = MemoryLayout<sa_family_t>.size + name.utf8.count
    return withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, socklen_t(length)) }
    }
}
