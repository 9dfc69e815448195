import JSON
import MariaDB

extension Accounts {
    /// Takes a device out of the caller's account (accounts §4.8): its secret and its PAKs open nothing any more, and its
    /// UUID is free.
    ///
    /// - Throws: `anonymousRequester` for an anonymous caller, whose devices are the only way in; `notFound` if the caller
    ///   has no such device.
    package func removeDevice(_ device: Device.ID, by caller: Caller, in transaction: AccountsTransaction) throws {
        let user = try transaction.lockCaller(caller).caller
        if user.anonymous { throw Failure.anonymousRequester }
        let found = try transaction.connection.first(
            "SELECT id FROM devices WHERE id = ? AND user_id = ? FOR UPDATE", device, user.id
        ) { row in try row.read(Device.ID.self) }
        if found == nil { throw Failure.notFound }
        try transaction.revokePAKs(of: user.id, on: device, reason: "device_removed", actor: caller.actor)
        try transaction.connection.execute("DELETE FROM devices WHERE id = ?", device)
        transaction.audit(
            .deviceRemoved, user: user.id, actor: caller.actor, ["device_id": .integer(device.rawValue)])
    }
}
