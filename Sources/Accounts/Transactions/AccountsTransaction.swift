package import Database
package import MariaDB
import Text
package import Time

/// One run of one state-changing request inside its database transaction.
///
/// Rules read and write through it, and note what they did; outbox and audit rows are written last, together, because
/// they are last in the lock order (accounts §0.4). The whole may run again from the start, with a new value.
package final class AccountsTransaction {
    package let connection: Connection
    package let now: Timestamp
    package let origin: Origin
    private var auditEntries: [AuditEntry] = []
    private var events: [Event] = []

    fileprivate init(_ connection: Connection, now: Timestamp, origin: Origin) {
        self.connection = connection
        self.now = now
        self.origin = origin
    }

    func audit(
        _ action: AuditEntry.Action, user: User.ID?, actor: AuditEntry.Actor, _ details: AuditEntry.Details = [:]
    ) {
        auditEntries.append(
            AuditEntry(action: action, user: user, actor: actor, details: details.map { ($0.key, $0.value) }))
    }

    /// - Parameter event: written to the outbox of its application, in order of application ids.
    func emit(_ event: Event) { events.append(event) }

    /// Writes what was noted. Nothing may be written after it but the idempotency record, whose row is locked already.
    fileprivate func finish() throws {
        try appendToOutbox(events)
        try appendToAuditLog(auditEntries)
    }
}

extension Accounts {
    /// Runs a rule in one transaction. Requests, commands and jobs have no other way into one on the accounts' tables.
    ///
    /// What the rule returns is committed, with the events and audit rows it noted; what it throws leaves nothing behind.
    /// It may run several times, from its first line.
    ///
    /// - Parameters:
    ///   - answer: how the result is kept under the request's Idempotency-Key; nil when it has none.
    ///   - isRehearsal: whether everything is done and nothing kept.
    /// - Throws: what the rule throws; `AlreadyAnswered` when another copy of the request has committed meanwhile;
    ///   `TransactionFailure`.
    package static func write<Result>(
        _ database: Database, at clock: Clock = .system, from origin: Origin, keeping answer: KeptAnswer<Result>? = nil,
        isRehearsal: Bool = false, _ rule: (AccountsTransaction) throws -> Result
    ) throws -> Result {
        var rehearsed: Result?
        do {
            return try database.transaction(retryPolicy) { connection in
                let transaction = AccountsTransaction(connection, now: clock.now, origin: origin)
                try answer?.claim(in: transaction)
                let result = try rule(transaction)
                try transaction.finish()
                try answer?.keep(result, in: transaction)
                if isRehearsal {
                    rehearsed = result
                    throw EndOfRehearsal()
                }
                return result
            }
        } catch let end as EndOfRehearsal {
            guard let rehearsed else { throw end }
            return rehearsed
        }
    }

    /// A duplicate on one of these indexes means that another request was faster: the repeat sees its row (accounts §0.4).
    package static let retryPolicy = RetryPolicy(
        racyKeys: [
            "users_live_login_email", "identities_provider_sub", "devices_device_uuid", "grants_application_sub",
            "device_codes_user_code",
        ])
}

/// Thrown so that a transaction is rolled back.
private struct EndOfRehearsal: Error {}

/// Where a change came from, for the audit log and the login history.
package struct Origin: Sendable {
    package let requestID: String
    package let address: String
    /// The header X-Device-UUID: recorded, never trusted.
    package let claimedDevice: String?
    package let userAgent: String?

    package init(requestID: String, address: String, claimedDevice: String? = nil, userAgent: String? = nil) {
        self.requestID = requestID
        self.address = String(decoding: address.utf8.filter { $0 < 0x80 }.prefix(45), as: UTF8.self)
        self.claimedDevice = claimedDevice?.prefix(scalars: 100)
        self.userAgent = userAgent?.prefix(scalars: 500)
    }
}
