package import Database
package import MariaDB
import Text
package import Time

/// One run of a rule that changes state, in its database transaction.
///
/// Rules read and write through it, and add audit entries and events. Those are written last, together, because they
/// are last in the lock order (accounts §0.4). The transaction may run again from the start, with a new value of this
/// type.
package final class AccountsTransaction {
    package let connection: Connection
    package let now: Timestamp
    package let origin: Origin
    /// Whether no run of the rule came before this one. If one did, others may have written what it tried to write.
    let isFirstRun: Bool
    private var auditEntries: [AuditEntry] = []
    private var events: [Event] = []
    private var logouts: [LogoutNotice] = []
    /// Made when the rule has ended.
    var appleRevocations = AppleRevocationChanges()
    /// Of the merge or swap that this is.
    var journal: BegunJournal?
    /// Whether something is due to be sent after the commit.
    fileprivate private(set) var hasDueMessages = false

    fileprivate init(_ connection: Connection, now: Timestamp, origin: Origin, isFirstRun: Bool) {
        self.connection = connection
        self.now = now
        self.origin = origin
        self.isFirstRun = isFirstRun
    }

    func audit(
        _ action: AuditEntry.Action, user: User.ID?, actor: AuditEntry.Actor, _ details: AuditEntry.Details = [:]
    ) {
        auditEntries.append(
            AuditEntry(action: action, user: user, actor: actor, details: details.map { ($0.key, $0.value) }))
    }

    /// Keeps the entries about a user whose row is gone, without the user.
    func forgetInAudit(_ user: User.ID) {
        for index in auditEntries.indices where auditEntries[index].user == user { auditEntries[index].user = nil }
    }

    /// - Parameter event: written when the rule has ended, in the order of application ids.
    func emit(_ event: Event) {
        events.append(event)
        wakeDispatchers()
    }

    /// Makes the dispatchers of this process look for due messages after the commit.
    package func wakeDispatchers() { hasDueMessages = true }

    /// - Parameter notice: queued for its application, if that wants to know.
    func emit(_ notice: LogoutNotice) { logouts.append(notice) }

    /// Writes the events and audit entries. Only the idempotency record may be written after that; its row is already
    /// locked.
    fileprivate func finish() throws {
        // What is written refers to its application, whose lock comes before the events' counters.
        let told = Set(events.map(\.application) + logouts.map(\.application))
        try connection.lockApplications(told.sorted(), exclusively: false)
        try appendToOutbox(events)
        try appendToLogoutTokens(logouts)
        try changeAppleRevocations()
        try appendToAuditLog(auditEntries)
    }
}

extension Accounts {
    /// Runs a rule in one transaction. Requests, commands and jobs change the accounts' tables only through this
    /// function, but for single statements whose failure fails nothing (`Database.autocommit`).
    ///
    /// If the rule returns, its changes are committed with its events and audit entries. If it throws, everything is
    /// rolled back. The rule may run several times.
    ///
    /// - Parameters:
    ///   - answer: how the result is stored under the request's Idempotency-Key; nil if the request has none.
    ///   - isRehearsal: whether the transaction is rolled back after a successful run.
    /// - Throws: what the rule throws; `AlreadyAnswered` if another copy of the request has committed;
    ///   `TransactionFailure`.
    package static func write<Result>(
        _ database: Database, at clock: Clock = .system, from origin: Origin, keeping answer: KeptAnswer<Result>? = nil,
        isRehearsal: Bool = false, _ rule: (AccountsTransaction) throws -> Result
    ) throws -> Result {
        var rehearsed: Result?
        do {
            var (hasDueMessages, isFirstRun) = (false, true)
            let result = try database.transaction(retryPolicy) { connection in
                defer { isFirstRun = false }
                let transaction = AccountsTransaction(
                    connection, now: clock.now, origin: origin, isFirstRun: isFirstRun)
                try answer?.claim(in: transaction)
                let result = try rule(transaction)
                try transaction.finish()
                try answer?.keep(result, in: transaction)
                if isRehearsal {
                    try connection.runWaitingStatements()
                    rehearsed = result
                    throw EndOfRehearsal()
                }
                hasDueMessages = transaction.hasDueMessages
                return result
            }
            if hasDueMessages { OutboxBell.ring() }
            return result
        } catch let end as EndOfRehearsal {
            guard let rehearsed else { throw end }
            return rehearsed
        }
    }

    /// If a duplicate key is on one of these indexes, the row was there already, or another request was faster. The next run
    /// sees it (accounts §0.4).
    package static let retryPolicy = RetryPolicy(
        racyKeys: [
            "users_live_login_email", "identities_provider_sub", "devices_device_uuid", "grants_application_sub",
            "device_codes_user_code",
        ])
}

/// Thrown to roll a rehearsal back.
private struct EndOfRehearsal: Error {}

/// Where a change comes from, for the audit log and the login history.
package struct Origin: Sendable {
    package let requestID: String
    package let address: String
    /// The header X-Device-UUID. It is recorded, but never trusted.
    package let claimedDevice: String?
    package let userAgent: String?

    package init(requestID: String, address: String, claimedDevice: String? = nil, userAgent: String? = nil) {
        self.requestID = requestID
        self.address = String(decoding: address.utf8.filter { $0 < 0x80 }.prefix(45), as: UTF8.self)
        self.claimedDevice = claimedDevice?.prefix(scalars: 100)
        self.userAgent = userAgent?.prefix(scalars: 500)
    }
}
