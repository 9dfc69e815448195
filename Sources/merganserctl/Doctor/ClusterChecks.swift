import Database
import MariaDB

/// How a node of a Galera cluster must be set up for merganserd, and how it is.
struct ClusterChecks {
    private let node: ClusterNode
    private let connection: Connection

    /// - Returns: nil if the server is not a node of a cluster.
    init?(_ connection: Connection) throws {
        guard let node = try connection.clusterNode() else { return nil }
        self.node = node
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

    /// What a dead node costs.
    private func stall() -> Finding {
        let message = "when a node dies, the others go on after about \((node.stall / .seconds(1)).rounded()) s"
        return node.stall <= .seconds(7)
            ? .ok("stall", message)
            : .warn(
                "stall", message, "set evs.suspect_timeout in wsrep_provider_options as in packaging/cluster/galera.cnf"
            )
    }

    /// With a limit of its own, MariaDB 10.11 refuses every UPDATE of a table that is joined with a derived one (4165).
    private func limits() -> Finding {
        let defaults = ["wsrep_max_ws_rows": "0", "wsrep_max_ws_size": "2147483647"]
        let changed = defaults.filter { node.settings[$0.key] != $0.value }.map { "\($0.key) = \($0.value)" }.sorted()
        return changed.isEmpty
            ? .ok("limits", "up to 2 GiB in a transaction")
            : .fail(
                "limits", "MariaDB refuses statements of merganserd and of migrations (error 4165)",
                "\(changed.joined(separator: ", ")) in the [mariadbd] section")
    }

    private func reads() -> Finding {
        let value = node.settings["wsrep_sync_wait"] ?? ""
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
        if node.settings["wsrep_auto_increment_control"] != "ON" { wrong.append("wsrep_auto_increment_control = ON") }
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
