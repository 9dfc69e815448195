internal import CFastCGI
internal import Glibc

extension ListeningSocket {
    /// The socket that a service manager passed (sd_listen_fds(3)), or that is descriptor 0; nil if there is none.
    ///
    /// Call this before any thread exists: it removes the variables from the environment, so that no child process uses
    /// them as its own.
    package static func inherited() throws(FastCGIError) -> ListeningSocket? {
        defer { for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsetenv(name) } }
        if let count = environmentVariable("LISTEN_FDS").flatMap({ Int($0) }), count > 0,
            environmentVariable("LISTEN_PID") == String(getpid())
        {
            if count > 1 { throw FastCGIError("LISTEN_FDS is \(count): pass only one listening socket") }
            return try adopt(3, name: "the socket that LISTEN_FDS announces")
        }
        guard option(SO_ACCEPTCONN, of: 0) == 1 else { return nil }
        // Move it away from 0: otherwise, after it is closed, the next descriptor to be opened would become standard
        // input.
        let descriptor = try check(fcntl(0, F_DUPFD_CLOEXEC, 3), "fcntl F_DUPFD_CLOEXEC")
        let null = try check(open("/dev/null", O_RDONLY | O_CLOEXEC), "/dev/null")
        dup2(null, 0)
        Glibc.close(null)
        return try adopt(descriptor, name: "the socket on descriptor 0")
    }

    private static func adopt(_ descriptor: Int32, name: String) throws(FastCGIError) -> ListeningSocket {
        guard option(SO_ACCEPTCONN, of: descriptor) == 1 else {
            throw FastCGIError("\(name) does not listen: pass a socket on which listen(2) was called")
        }
        guard option(SO_DOMAIN, of: descriptor) == AF_UNIX,
            option(SO_TYPE, of: descriptor) == Int32(SOCK_STREAM.rawValue)
        else { throw FastCGIError("\(name) is not a unix stream socket: pass one to which only nginx may connect") }
        try check(fcntl(descriptor, F_SETFD, FD_CLOEXEC), "fcntl F_SETFD")
        // All processes that share the socket get EAGAIN from now on.
        try check(fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK), "fcntl F_SETFL")
        // The flag may be cleared again: by default, systemd clears it for each instance that it starts. A worker that
        // finds no waiting connection must not block then, or the instance could not be stopped.
        setTimeout(SO_RCVTIMEO, .milliseconds(100), descriptor)
        return ListeningSocket(inherited: descriptor)
    }

    private static func option(_ name: Int32, of descriptor: Int32) -> Int32? {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, name, &value, &size) == 0 ? value : nil
    }
}
