import JSON
import MariaDB

extension Accounts {
    /// Revokes the presented PAK; the device stays (accounts §1.1).
    package func endSession(_ caller: Caller, in transaction: AccountsTransaction) throws {
        _ = try transaction.lockCaller(caller)
        try transaction.connection.execute("UPDATE paks SET revoked_at = ? WHERE id = ?", transaction.now, caller.pak)
        try transaction.forgetLivePAKs(of: caller.id)
        transaction.audit(
            .pakRevoked, user: caller.id, actor: caller.actor, ["count": 1, "reason": .string("signed_out")])
    }
}
