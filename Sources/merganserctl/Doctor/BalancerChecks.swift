import FastCGI
import Glibc

/// What HAProxy on this machine says of the nodes of the database (packaging/cluster/haproxy.cfg).
struct BalancerChecks {
    private static let proxy = "merganser_database"

    let findings: [Finding]

    /// - Parameter socket: path of HAProxy's stats socket. If nothing is there, nothing is checked.
    init(socket: String) {
        guard access(socket, F_OK) == 0 else {
            findings = []
            return
        }
        guard let statistics = Self.ask("show stat", at: socket) else {
            findings = [
                .fail("haproxy", "does not answer at \(socket)", "systemctl status haproxy; doctor must run as root")
            ]
            return
        }
        findings = [Self.finding(Self.servers(in: statistics))]
    }

    private struct Server {
        let name: String
        let isUp: Bool
        let isBackup: Bool
        let sessions: Int
        /// The answer of its last health check.
        let check: String
    }

    private static func finding(_ servers: [Server]) -> Finding {
        guard let used = servers.first(where: { $0.isUp && !$0.isBackup }) ?? servers.first(where: \.isUp) else {
            if servers.isEmpty {
                return .fail(
                    "haproxy", "has no proxy \(proxy)",
                    "install packaging/cluster/haproxy.cfg as /etc/haproxy/haproxy.cfg")
            }
            let reasons = servers.map { "\($0.name): \($0.check)" }.joined(separator: "; ")
            return .fail(
                "haproxy", "no node can be written to (\(reasons))",
                "docs/machines.md, What to do if the cluster is split")
        }
        let down = servers.filter { !$0.isUp }
        let astray = servers.filter { $0.name != used.name && $0.sessions > 0 }
        let message = "writes to \(used.name); \(servers.count - down.count) of \(servers.count) nodes are up"
        if !down.isEmpty {
            return .warn(
                "haproxy", "\(message), not \(down.map { "\($0.name) (\($0.check))" }.joined(separator: ", "))",
                "look at MariaDB's error log on that machine, and at galera-check.socket")
        }
        guard astray.isEmpty else {
            return .warn(
                "haproxy", "\(message); but connections stay at \(astray.map(\.name).joined(separator: ", "))",
                "on-marked-up shutdown-backup-sessions at the first server, as in packaging/cluster/haproxy.cfg")
        }
        return .ok("haproxy", message)
    }

    /// From the table of `show stat`: a line of names, then lines of values, with commas between.
    private static func servers(in statistics: String) -> [Server] {
        let lines = statistics.split(separator: "\n").map {
            $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        guard let names = lines.first else { return [] }
        return lines.dropFirst().compactMap { line -> Server? in
            func value(_ name: String) -> String {
                names.firstIndex(of: name).flatMap { line.indices.contains($0) ? line[$0] : nil } ?? ""
            }
            let server = value("svname")
            guard value("# pxname") == proxy, !["FRONTEND", "BACKEND"].contains(server) else { return nil }
            return Server(
                name: server, isUp: value("status").hasPrefix("UP") || value("status") == "no check",
                isBackup: value("bck") == "1",
                sessions: Int(value("scur")) ?? 0, check: "\(value("check_status")) \(value("last_chk"))")
        }
    }

    /// - Returns: nil if nobody answers within two seconds.
    private static func ask(_ command: String, at path: String) -> String? {
        guard let descriptor = connectToUnixSocket(path) else { return nil }
        defer { close(descriptor) }
        var limit = timeval(tv_sec: 2, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let line = Array("\(command)\n".utf8)
        guard send(descriptor, line, line.count, Int32(MSG_NOSIGNAL)) == line.count else { return nil }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count == 0 { return String(decoding: answer, as: UTF8.self) }
            guard count > 0 else { return nil }
            answer += buffer[..<count]
        }
    }
}
