internal import Glibc

/// A listening unix socket: one of our own that takes over a path by rename, or one inherited and shared with others.
///
/// Never TCP: whoever can connect to libfcgi can abort the process with a crafted record (CVE-2025-23016), so the
/// file's permissions are the guard.
package final class ListeningSocket: Sendable {
    let descriptor: Int32
    /// Nil: inherited, shared with whoever else has it.
    private let file: File?

    private struct File {
        let path: String
        let temporaryPath: String
        let device: UInt
        let inode: UInt
    }

    private init(_ descriptor: Int32, file: File?) {
        self.descriptor = descriptor
        self.file = file
    }

    deinit { close(descriptor) }

    var isShared: Bool { file == nil }

    /// Listens under a temporary name beside `path`; nobody connects before `publish()`.
    ///
    /// - Parameters:
    ///   - group: whose members may connect, by name; nil: the process's own.
    ///   - backlog: connections that may wait; the kernel caps it at net.core.somaxconn.
    package static func prepare(
        path: String, mode: UInt32 = 0o660, group: String? = nil, backlog: Int = 1024
    ) throws(FastCGIError) -> ListeningSocket {
        let temporaryPath = "\(path).\(getpid())"
        guard temporaryPath.utf8.count < maximumPathLength else {
            throw FastCGIError(
                "\(path): a socket's path may have \(maximumPathLength - 12) bytes; choose a shorter one")
        }
        var status = stat()
        if lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFSOCK {
            throw FastCGIError("\(path) exists and is no socket; remove it or choose another path")
        }
        let descriptor = try check(
            socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0), "socket")
        do throws(FastCGIError) {
            unlink(temporaryPath)
            try check(withUnixAddress(temporaryPath) { bind(descriptor, $0, $1) }, temporaryPath)
            try check(chmod(temporaryPath, mode), "chmod \(temporaryPath)")
            if let group { try check(chown(temporaryPath, uid_t.max, try groupID(group)), "chgrp \(group) \(path)") }
            try check(listen(descriptor, Int32(clamping: backlog)), "listen \(temporaryPath)")
            try check(lstat(temporaryPath, &status), temporaryPath)
        } catch {
            unlink(temporaryPath)
            close(descriptor)
            throw error
        }
        return ListeningSocket(
            descriptor,
            file: File(
                path: path, temporaryPath: temporaryPath, device: UInt(status.st_dev), inode: UInt(status.st_ino)))
    }

    /// Takes the path over: from now on new connections come here. Nothing to do for an inherited socket.
    package func publish() throws(FastCGIError) {
        guard let file else { return }
        try check(rename(file.temporaryPath, file.path), "rename to \(file.path)")
    }

    /// Frees the path, unless another instance has taken it over.
    package func withdraw() {
        guard let file else { return }
        for path in [file.path, file.temporaryPath] {
            var status = stat()
            if lstat(path, &status) == 0, UInt(status.st_dev) == file.device, UInt(status.st_ino) == file.inode {
                unlink(path)
            }
        }
    }

    /// The socket that a service manager passed (sd_listen_fds(3)), or that is descriptor 0; nil when there is none.
    ///
    /// To be called before any thread exists: it takes the variables out of the environment.
    package static func inherited() throws(FastCGIError) -> ListeningSocket? {
        defer { for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsetenv(name) } }
        let count = getenv("LISTEN_FDS").flatMap { Int(String(cString: $0)) } ?? 0
        let isForUs = getenv("LISTEN_PID").map { String(cString: $0) == String(getpid()) } ?? false
        if isForUs, count > 0 {
            if count > 1 { throw FastCGIError("LISTEN_FDS is \(count); one listening socket is taken") }
            return try adopt(3, name: "the socket of LISTEN_FDS")
        }
        return option(SO_ACCEPTCONN, of: 0) == 1 ? try adopt(0, name: "the socket on descriptor 0") : nil
    }

    private static func adopt(_ descriptor: Int32, name: String) throws(FastCGIError) -> ListeningSocket {
        guard option(SO_ACCEPTCONN, of: descriptor) == 1 else { throw FastCGIError("\(name) does not listen") }
        guard option(SO_DOMAIN, of: descriptor) == AF_UNIX else { throw FastCGIError("\(name) is no unix socket") }
        try check(fcntl(descriptor, F_SETFD, FD_CLOEXEC), "fcntl F_SETFD")
        // Shared with everybody who has the socket: all of them must be ready for EAGAIN, as we are.
        try check(fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK), "fcntl F_SETFL")
        return ListeningSocket(descriptor, file: nil)
    }

    private static func option(_ name: Int32, of descriptor: Int32) -> Int32? {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, name, &value, &size) == 0 ? value : nil
    }

    private static func groupID(_ name: String) throws(FastCGIError) -> gid_t {
        guard let entry = getgrnam(name) else { throw FastCGIError("there is no group \(name)") }
        return entry.pointee.gr_gid
    }

    /// Whether somebody waits to be accepted.
    var hasWaitingConnection: Bool { isReadable(descriptor, within: 0) }
}

/// What fits into `sockaddr_un.sun_path`, with its terminating zero.
private let maximumPathLength = 108

/// - Parameter path: a name in the file system, or `@` and a name in the abstract namespace (unix(7)).
func withUnixAddress<T>(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> T) -> T {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8.prefix(maximumPathLength - 1))
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    if bytes.first == UInt8(ascii: "@") { address.sun_path.0 = 0 }
    let length = MemoryLayout<sa_family_t>.size + bytes.count
    return withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(length)) }
    }
}

/// Whether reading would not block, or becomes so within some milliseconds.
func isReadable(_ descriptor: Int32, within milliseconds: Int32) -> Bool {
    var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return Glibc.poll(&poll, 1, milliseconds) > 0
}
