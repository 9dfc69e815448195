import Glibc

/// A private nginx on a free loopback port, which runs as the user of the tests.
package final class Nginx: Sendable {
    package let port: UInt16
    package var url: String { "http://127.0.0.1:\(port)" }

    /// Its prefix: configuration, logs and temporary files.
    package let directory: TemporaryDirectory
    private let process: ChildProcess

    /// Debian's, or the one that `MERGANSER_TEST_NGINX` names.
    private static let program = getenv("MERGANSER_TEST_NGINX").map { String(cString: $0) } ?? "/usr/sbin/nginx"

    /// Its version: MAJOR, MINOR, PATCH.
    package static func version() throws -> [Int] {
        let text = try ChildProcess.run(program, ["-v"]).errorOutput
        return text.split { !$0.isNumber && $0 != "." }.joined().split(separator: ".").compactMap { Int($0) }
    }

    /// For the http block: folders below the prefix, because Debian's nginx has folders that belong to root.
    package static let ownFolders = """
        client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; \
        scgi_temp_path scgi;
        """

    /// Returns when nginx accepts connections.
    ///
    /// - Parameters:
    ///   - links: names of links in `directory`, with the paths that they lead to.
    ///   - configuration: the whole `nginx.conf` for the port, except `user`, `pid` and `daemon`. Relative paths start
    ///     at `directory`.
    package init(links: [String: String] = [:], _ configuration: (_ port: UInt16) throws -> String) throws {
        let directory = try TemporaryDirectory()
        for (name, path) in links { try directory.link(name, to: path) }
        let (process, port) = try onFreePort { port in
            let file = try directory.write(try configuration(port), to: "nginx.conf")
            let process = try ChildProcess(
                Nginx.program, Nginx.arguments(prefix: directory.path, configuration: file), deathSignal: SIGTERM)
            do {
                // nginx writes the file after it has bound the port, which somebody else may have taken.
                try process.wait(for: "nginx on port \(port)") {
                    !directory.text("nginx.pid").isEmpty && accepts(port)
                }
            } catch {
                throw TestSupportError("\(error)\(directory.text("error.log"))")
            }
            return process
        }
        (self.directory, self.process, self.port) = (directory, process, port)
    }

    deinit { try? stop() }

    /// Runs `nginx -t`.
    package static func check(configuration file: String, prefix: String) throws -> ChildProcess.Outcome {
        try ChildProcess.run(program, ["-t"] + arguments(prefix: prefix, configuration: file))
    }

    /// The content of `error.log` so far.
    package var errorLog: String { directory.text("error.log") }

    /// Reloads the configuration: new workers take over, and the old ones finish their requests.
    package func reload() { process.send(SIGHUP) }

    /// Stops it gracefully.
    package func stop() throws {
        process.terminate()
        try process.waitForExit()
    }

    private static func arguments(prefix: String, configuration: String) -> [String] {
        // Root's nginx would become another user, who may not connect to the sockets of the tests.
        let user = geteuid() == 0 ? " user root;" : ""
        return [
            "-p", prefix, "-e", "\(prefix)/error.log", "-c", configuration, "-g",
            "daemon off; pid \(prefix)/nginx.pid;\(user)",
        ]
    }
}

/// Starts a server on a free loopback port.
///
/// - Parameter start: throws what the server says if it does not start. If that says that the address is in use, it is
///   called again with another port.
/// - Returns: the server and its port.
package func onFreePort<Server>(_ start: (_ port: UInt16) throws -> Server) throws -> (Server, UInt16) {
    var attempts = 0
    while true {
        let port = try freePort()
        do {
            return (try start(port), port)
        } catch {
            // Between being found free and being bound, a port may be taken by somebody else.
            attempts += 1
            guard "\(error)".contains("Address already in use"), attempts < 5 else { throw error }
        }
    }
}

/// A loopback port on which nothing listens.
package func freePort() throws -> UInt16 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    defer { close(descriptor) }
    var address = loopback(0)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
        }
    }
    guard isBound else { throw TestSupportError("bind 127.0.0.1", code: errno) }
    return UInt16(bigEndian: address.sin_port)
}

/// Whether anything accepts connections on a loopback port.
private func accepts(_ port: UInt16) -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    defer { close(descriptor) }
    var address = loopback(port)
    return withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
    }
}

func loopback(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
}
