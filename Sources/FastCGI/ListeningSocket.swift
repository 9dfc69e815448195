internal import CFastCGI
internal import Files
internal import Glibc
internal import Synchronization

/// A listening unix socket: either its own, which takes over a path by rename, or inherited and shared with other
/// processes.
///
/// It is never TCP, because whoever can connect to libfcgi 2.4.2 can make it abort the process: with a parameter that
/// announces 2 GiB or more (the rest of CVE-2025-23016), or with a GET_VALUES record that names more than three
/// variables that libfcgi knows, for which its answer has no room. libfcgi reads both before any other code can check
/// them, so only the file's permissions protect the process. nginx writes neither, whatever clients send: the lengths
/// are those of data that it holds, and it does not use GET_VALUES.
package final class ListeningSocket: Sendable {
    enum Accepted {
        case connection(Int32)
        /// No connection is waiting: another worker, or another process, was faster.
        case nobody
        /// The process or the system has run out of descriptors or memory.
        case exhausted
    }

    /// -1 once closed.
    private let descriptor: Mutex<Int32>
    /// nil if the socket was inherited.
    private let file: File?

    private struct File {
        let path: String
        let temporaryPath: String
        let device: UInt
        let inode: UInt
    }

    private init(_ descriptor: Int32, file: File?) {
        self.descriptor = Mutex(descriptor)
        self.file = file
    }

    /// - Parameter inherited: a listening unix socket. This object takes ownership of it.
    convenience init(inherited descriptor: Int32) { self.init(descriptor, file: nil) }

    deinit { close() }

    /// Whether other processes continue to accept from it when this one stops.
    var isShared: Bool { file == nil }

    /// Listens under a temporary name beside `path`; nobody can connect before `publish()`.
    ///
    /// - Parameters:
    ///   - mode: its permissions, whatever the umask.
    ///   - group: the group whose members may connect, by name or number; nil: the process's own.
    ///   - backlog: how many connections may wait; the kernel caps it at net.core.somaxconn.
    package static func prepare(
        path: String, mode: UInt32 = 0o660, group: String? = nil, backlog: Int = 1024
    ) throws(FastCGIError) -> ListeningSocket {
        let temporaryPath = "\(path).\(getpid())"
        let excess = temporaryPath.utf8.count - unixPathLimit
        if excess > 0 { throw FastCGIError("\(path) is too long for the path of a socket; remove \(excess) bytes") }
        var status = stat()
        if lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFSOCK {
            throw FastCGIError("\(path) exists and is not a socket; remove it or choose another path")
        }
        let descriptor = try check(
            socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0), "socket")
        do throws(FastCGIError) {
            // A process that ended between here and publish() has left it behind.
            unlink(temporaryPath)
            try check(withUnixAddress(temporaryPath) { bind(descriptor, $0, $1) }, "bind \(temporaryPath)")
            if let group {
                try check(
                    chown(temporaryPath, uid_t.max, try groupID(group)),
                    "chgrp \(group) \(path) (for root and members of the group)")
            }
            try check(chmod(temporaryPath, mode), "chmod \(temporaryPath)")
            try check(lstat(temporaryPath, &status), temporaryPath)
            // This comes last, because until then nobody can connect.
            try check(listen(descriptor, Int32(clamping: backlog)), "listen \(temporaryPath)")
        } catch {
            unlink(temporaryPath)
            Glibc.close(descriptor)
            throw error
        }
        return ListeningSocket(
            descriptor,
            file: File(
                path: path, temporaryPath: temporaryPath, device: UInt(status.st_dev), inode: UInt(status.st_ino)))
    }

    /// Takes over the path: from now on new connections arrive here. Does nothing for an inherited socket.
    package func publish() throws(FastCGIError) {
        guard let file else { return }
        try withLock(besides: file.path) { () throws(FastCGIError) in
            try check(rename(file.temporaryPath, file.path), "rename \(file.temporaryPath) to \(file.path)")
        }
    }

    /// Removes the path, unless another instance has taken it over. Connections that are already made are still served.
    package func withdraw() {
        guard let file else { return }
        // If the directory is gone, there is no path to remove.
        try? withLock(besides: file.path) { () throws(FastCGIError) in
            for path in [file.path, file.temporaryPath] {
                var status = stat()
                if lstat(path, &status) == 0, UInt(status.st_dev) == file.device, UInt(status.st_ino) == file.inode {
                    unlink(path)
                }
            }
        }
    }

    /// The descriptor for epoll; -1 once closed.
    var watchedDescriptor: Int32 { descriptor.withLock { $0 } }

    /// Accepts a waiting connection; does not wait for one.
    ///
    /// - Parameter count: called for each accepted connection, before `close()` can return. So after `close()`, all
    ///   accepted connections are counted.
    func accept(_ count: () -> Void) -> Accepted {
        // The lock is needed, because after a close the descriptor may belong to something else.
        descriptor.withLock { listener in
            guard listener >= 0 else { return .nobody }
            let connection = accept4(listener, nil, nil, Int32(SOCK_CLOEXEC.rawValue))
            if connection >= 0 {
                count()
                return .connection(connection)
            }
            return [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) ? .exhausted : .nobody
        }
    }

    /// Whether a connection waits to be accepted.
    var hasWaitingConnection: Bool {
        descriptor.withLock { listener in
            var ready = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
            return poll(&ready, 1, 0) == 1
        }
    }

    /// Closes the socket. This resets waiting connections, unless other processes share the socket.
    func close() {
        descriptor.withLock { listener in
            if listener >= 0 { Glibc.close(listener) }
            listener = -1
        }
    }

    private static func groupID(_ name: String) throws(FastCGIError) -> gid_t {
        guard let group = Group(name) else { throw FastCGIError("there is no group \(name)") }
        return group.number
    }
}

/// Runs `body` while no other instance can rename or unlink sockets in the same directory.
private func withLock(besides path: String, _ body: () throws(FastCGIError) -> Void) throws(FastCGIError) {
    let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    let descriptor = try check(open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open \(directory)")
    defer { Glibc.close(descriptor) }
    try check(flock(descriptor, LOCK_EX), "flock \(directory)")
    try body()
}
