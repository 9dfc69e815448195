import Database
import MariaDB

/// How a node of a Galera cluster must be set up for merganserd, and how it is.
struct ClusterChecks {
    private let node: ClusterNode
    /// Its variables whose names begin with `wsrep_`.
    private let settings: [String: String]
    private let connection: Connection

    /// - Returns: nil if the server is not a node of a cluster.
    init?(_ connection: Connection) throws {
        guard let node = try connection.clusterNode() else { return nil }
        self.node = node
        settings = Dictionary(
            uniqueKeysWithValues: try connection.all("SHOW GLOBAL VARIABLES LIKE 'wsrep\\_%'") { row in
                (try row.read(String.self), try row.read(String.self))
            })
        self.connection = connection
    }

    func findings() throws -> [Finding] {
        [state(), size(), flowControl(), conflicts(), stall(), limits(), reads()]
            + [try replication(), try filters()]
    }

    private func state() -> Finding {
        let message = "\(node.name) is \(node.state)\(node.isPrimary ? "" : ", without the majority of its cluster")"
        return node.isSynced
            ? .ok("node", message)
            : .fail("node", message, "docs/machines.md, What to do if the cluster is split")
    }

    private func size() -> Finding {
        let message = "\(node.size) node\(node.size == 1 ? "" : "s")"
        return node.size >= 3 && !node.size.isMultiple(of: 2)
            ? .ok("cluster", message)
            : .warn(
                "cluster", "\(message): fewer than three, or half of them, cannot go on without the others",
                "start the nodes that are missing; three or five form a majority")
    }

    private func flowControl() -> Finding {
        let share = node.pausedShare
        let message = "commits have waited for slower nodes for \((share * 1000).rounded() / 10) % of the time"
        return share < 0.05
            ? .ok("flow control", message)
            : .warn(
                "flow control", message,
                "find the node whose wsrep_local_recv_queue_avg is high: its disk or its processors are too slow, or it "
                    + "needs more wsrep_slave_threads")
    }

    private func conflicts() -> Finding {
        let lost = node.certificationFailures + node.aborts
        let message = "\(lost) of \(node.commits + lost) transactions were repeated because another node was faster"
        return lost * 100 <= node.commits
            ? .ok("conflicts", message)
            : .warn("conflicts", message, "let all app machines write to the same node: their haproxy.cfg must agree")
    }

    /// How long commits wait when a node dies: until its silence is noticed, and the others have formed a new group, which
    /// takes a second or two.
    private func stall() -> Finding {
        let seconds = (seconds(/evs\.suspect_timeout *= *PT([0-9.]+)S/) ?? 5) + 1.5
        let message = "when a node dies, the others go on after about \(seconds.rounded()) s"
        return seconds <= 7
            ? .ok("stall", message)
            : .warn(
                "stall", message, "set evs.suspect_timeout in wsrep_provider_options as in packaging/cluster/galera.cnf"
            )
    }

    /// One of the provider's options.
    private func seconds(_ option: Regex<(Substring, Substring)>) -> Double? {
        (settings["wsrep_provider_options"] ?? "").matches(of: option).last.flatMap { Double($0.1) }
    }

    /// With a limit of its own, MariaDB 10.11 refuses every UPDATE of a table that is joined with a derived one (4165).
    private func limits() -> Finding {
        let defaults = ["wsrep_max_ws_rows": "0", "wsrep_max_ws_size": "2147483647"]
        let changed = defaults.filter { settings[$0.key] != $0.value }.map { "\($0.key) = \($0.value)" }.sorted()
        return changed.isEmpty
            ? .ok("limits", "up to 2 GiB in a transaction")
            : .fail(
                "limits", "MariaDB refuses statements of merganserd and of migrations (error 4165)",
                "\(changed.joined(separator: ", ")) in the [mariadbd] section")
    }

    private func reads() -> Finding {
        let value = settings["wsrep_sync_wait"] ?? ""
        let wait = seconds(/repl\.causal_read_timeout *= *PT([0-9.]+)S/) ?? 30
        guard wait <= 5 else {
            return .warn(
                "sync_wait", "merganserd waits up to \(wait) s for other nodes, longer than for a statement",
                "set repl.causal_read_timeout in wsrep_provider_options as in packaging/cluster/galera.cnf")
        }
        return value == "0"
            ? .ok("sync_wait", "off; merganserd turns it on where a read must wait for other nodes")
            : .warn(
                "sync_wait", "wsrep_sync_wait is \(value): every statement waits for the other nodes",
                "wsrep_sync_wait = 0 in the [mariadbd] section")
    }

    /// Settings without which nodes come to differ, or give out the same keys.
    private func replication() throws -> Finding {
        let variables = try connection.first(
            "SELECT @@global.binlog_format, @@global.innodb_autoinc_lock_mode, @@global.wsrep_osu_method"
        ) { row in
            (format: try row.read(String.self), keys: try row.read(Int.self), method: try row.read(String.self))
        }
        var wrong: [String] = []
        if variables?.format != "ROW" { wrong.append("binlog_format = ROW") }
        if variables?.keys != 2 { wrong.append("innodb_autoinc_lock_mode = 2") }
        if settings["wsrep_auto_increment_control"] != "ON" { wrong.append("wsrep_auto_increment_control = ON") }
        if variables?.method != "TOI" { wrong.append("wsrep_osu_method = TOI") }
        return wrong.isEmpty
            ? .ok("replication", "of rows, with keys of its own for each node, and definitions in one order")
            : .fail(
                "replication", "nodes can come to differ, or give out the same keys",
                "\(wrong.joined(separator: ", ")) in the [mariadbd] section")
    }

    private func filters() throws -> Finding {
        let filters = try connection.all(
            """
            SELECT LOWER(VARIABLE_NAME) FROM information_schema.GLOBAL_VARIABLES
            WHERE VARIABLE_NAME RLIKE '^replicate_(wild_)?(do|ignore)_(db|table)$' AND VARIABLE_VALUE <> ''
            """
        ) { row in try row.read(String.self) }
        return filters.isEmpty
            ? .ok("filters", "none")
            : .fail(
                "filters", "\(filters.joined(separator: ", ")) keep changes from this node",
                "remove them, and let the node take the whole state from another one")
    }
}
