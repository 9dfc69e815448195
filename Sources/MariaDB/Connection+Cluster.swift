extension Connection {
    /// - Parameter question: a variable that it names may be unknown (1193): then the server was built without Galera.
    func answersAsClusterNode(
        to question: String = "SELECT @@wsrep_on AND @@wsrep_provider NOT IN ('', 'none')"
    ) throws(MariaDBError) -> Bool {
        do {
            return try query(question) == [[[UInt8(ascii: "1")]]]
        } catch let error where error.code == 1193 {
            return false
        }
    }

    /// Waits until this node has applied everything that had been committed on any node when this was called. It takes a
    /// round trip of the group, and fails with 1205 after Galera's `repl.causal_read_timeout`. On a single server it does
    /// nothing.
    package func catchUp() throws(MariaDBError) {
        guard isClusterNode else { return }
        try query("SET STATEMENT wsrep_sync_wait = 1 FOR SELECT 1")
    }

    /// Makes the lock of rows hold on all nodes of a Galera cluster; does nothing on a single server.
    ///
    /// A row lock ends at its node: two transactions on two nodes can both hold it. They meet when they commit, by the
    /// rows that they have written, and one of them gets 1213 and is repeated. So every decision that rests on rows
    /// needs one that all who decide write: the version of what they lock (docs/operations.md, "On a cluster").
    ///
    /// - Parameters:
    ///   - update: counts up the rows' `version`, and ends with `WHERE id IN `.
    ///   - ids: of rows that this transaction has locked.
    package func writeOnCluster(_ update: StaticString, _ ids: some Collection<some Bindable>) throws(MariaDBError) {
        guard isClusterNode, !ids.isEmpty else { return }
        var sql = ComposedSQL("")
        sql.append(update, oneOf: ids.map { $0 })
        try execute(sql)
    }

    /// A Galera node that aborts a transaction, for one that another node has committed, may answer the statement that
    /// ran meanwhile as if nothing had happened. Only a flag then shows that the next one would be committed by itself.
    func checkClusterAbort(_ sql: @autoclosure () -> String) throws(MariaDBError) {
        guard isClusterNode, isInOwnTransaction, !isInTransaction else { return }
        throw note(.clusterAbort(sql: sql()))
    }
}
