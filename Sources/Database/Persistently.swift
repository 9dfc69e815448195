import Glibc
import MariaDB

/// Runs a statement that changes a table. If the table is busy, the statement may not get its lock within
/// `lockWaitTimeout`. Then it gives way, so that the requests that queue behind it can continue, and tries again.
///
/// - Parameters:
///   - progress: gets a line before each wait.
///   - work: may run several times.
/// - Throws: the error of `work`; a transient error only after twenty tries.
package func persistently<Failure: Error>(
    _ progress: (String) -> Void, _ work: () throws(Failure) -> Void
) throws(Failure) {
    for _ in 1..<20 {
        do { return try work() } catch {
            guard let busy = error as? MariaDBError, busy.isTransient else { throw error }
            progress("  \(busy.message); trying again in a second")
        }
        sleep(1)
    }
    try work()
}
