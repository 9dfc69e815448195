package import MariaDB
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

    package init(connection: Connection, now: Timestamp, origin: Origin) {
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
    package func finish() throws {
        try appendToOutbox(events)
        try appendToAuditLog(auditEntries)
    }
}

/// Where a request came from, for the audit log and the login history.
package struct Origin: Sendable {
    package let requestID: String
    package let address: String
    /// The header X-Device-UUID: recorded, never trusted.
    package let claimedDevice: String?
    package let userAgent: String?

    package init(requestID: String, address: String, claimedDevice: String? = nil, userAgent: String? = nil) {
        self.requestID = requestID
        self.address = String(decoding: address.utf8.filter { $0 < 0x80 }.prefix(45), as: UTF8.self)
        self.claimedDevice = claimedDevice?.cut(to: 100)
        self.userAgent = userAgent?.cut(to: 500)
    }
}
