package import MariaDB

/// What a MariaDB server says of itself as a node of a Galera cluster (`SHOW GLOBAL STATUS LIKE 'wsrep_%'`), which needs
/// no privilege, and which a node without its cluster answers, too. Counts start with the node.
package struct ClusterNode: Sendable {
    package let name: String
    /// How many nodes the cluster has, this one included.
    package let size: Int
    /// Whether the node belongs to the part of the cluster that may commit.
    package let isPrimary: Bool
    /// `Synced`, or what the node is doing instead, such as `Donor/Desynced`.
    package let state: String
    package let isReady: Bool
    /// For how long commits have waited because a node could not keep up.
    package let flowControl: Duration
    /// Transactions of this node that could not commit, because another node had committed to the same rows.
    package let certificationFailures: Int
    /// Transactions of this node that another node's commit ended before they came to their own.
    package let aborts: Int
    /// Transactions of this node that were committed.
    package let commits: Int
    /// The part of the time in which commits waited for slower nodes, 0 to 1.
    package let pausedShare: Double

    package var isSynced: Bool { isReady && isPrimary && state == "Synced" }
}

extension Connection {
    /// - Returns: nil if the server is not a node of a cluster.
    package func clusterNode() throws -> ClusterNode? {
        guard isClusterNode else { return nil }
        let name = try query("SELECT @@wsrep_node_name")[0][0] ?? []
        let status = Dictionary(
            uniqueKeysWithValues: try all("SHOW GLOBAL STATUS LIKE 'wsrep\\_%'") { row in
                (try row.read(String.self), try row.read(String.self))
            })
        func number(_ name: String) -> Int { status[name].flatMap { Int($0) } ?? 0 }
        return ClusterNode(
            name: String(decoding: name, as: UTF8.self), size: number("wsrep_cluster_size"),
            isPrimary: status["wsrep_cluster_status"] == "Primary",
            state: status["wsrep_local_state_comment"] ?? "unknown", isReady: status["wsrep_ready"] == "ON",
            flowControl: .nanoseconds(number("wsrep_flow_control_paused_ns")),
            certificationFailures: number("wsrep_local_cert_failures"), aborts: number("wsrep_local_bf_aborts"),
            commits: number("wsrep_local_commits"),
            pausedShare: status["wsrep_flow_control_paused"].flatMap { Double($0) } ?? 0)
    }
}
