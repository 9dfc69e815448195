import MariaDB
import Time

/// A row of device_codes, found by its device code.
struct StoredDeviceCode {
    enum Status: String {
        case pending, approved, denied, used
    }

    var id: DeviceAuthorization.ID
    var scopes: Scopes
    var status: Status
    /// The grant of the user who approved.
    var grant: Grant.ID?
    var authenticatedAt: Timestamp?
    /// Whether that user was anonymous; nil if a release before did not say.
    var fromAnonymous: Bool?
    var interval: Duration
    var lastPolledAt: Timestamp?
    var expiresAt: Timestamp
}

extension Connection {
    /// The application of a device code, and the grant if it is approved. Reads without a lock.
    func deviceCode(_ digest: [UInt8]) throws -> (application: Application.ID, grant: Grant.ID?)? {
        try first("SELECT application_id, grant_id FROM device_codes WHERE digest = ?", digest) { row in
            (try row.read(), try row.read())
        }
    }

    /// The pending request for a user code; nil if there is none or its application is not active. Call it only where
    /// tries are counted or impossible: see `findDeviceRequest`.
    func deviceRequest(_ code: UserCode, at now: Timestamp) throws -> DeviceRequest? {
        let found = try first(
            """
            SELECT c.id, c.scopes, a.client_id FROM device_codes c JOIN applications a ON a.id = c.application_id
            WHERE c.user_code = ? AND c.status = 'pending' AND c.expires_at > ?
            """, code.characters, now
        ) { row in
            (
                id: try row.read(DeviceAuthorization.ID.self), scopes: try row.read(String.self),
                clientID: try row.read(String.self)
            )
        }
        guard let found, let application = try client(found.clientID), application.isActive else { return nil }
        return DeviceRequest(id: found.id, userCode: code, application: application, scopes: Scopes(found.scopes))
    }
}

extension AccountsTransaction {
    /// If the user code is already in use, the insert ends in a duplicate key, and the transaction runs again with
    /// another code.
    func insertDeviceCode(
        _ deviceCode: Secret, _ userCode: UserCode, of application: Application.ID, _ scopes: Scopes
    ) throws {
        try connection.execute(
            """
            INSERT INTO device_codes (digest, user_code, application_id, scopes, interval_seconds, created_at, expires_at)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """, deviceCode.digest, userCode.characters, application, scopes.text,
            DeviceAuthorization.interval.components.seconds, now, now + DeviceAuthorization.lifetime)
    }

    func lockDeviceCode(_ digest: [UInt8]) throws -> StoredDeviceCode? {
        try connection.first(
            """
            SELECT id, scopes, status, grant_id, authenticated_at, from_anonymous, interval_seconds, last_polled_at,
                   expires_at
            FROM device_codes WHERE digest = ? FOR UPDATE
            """, digest
        ) { row in
            StoredDeviceCode(
                id: try row.read(), scopes: Scopes(try row.read()),
                status: StoredDeviceCode.Status(rawValue: try row.read()) ?? .used, grant: try row.read(),
                authenticatedAt: try row.read(), fromAnonymous: try row.read(),
                interval: .seconds(try row.read(Int.self)), lastPolledAt: try row.read(), expiresAt: try row.read())
        }
    }

    func notePoll(of code: StoredDeviceCode, interval: Duration) throws {
        try connection.execute(
            "UPDATE device_codes SET last_polled_at = ?, interval_seconds = ? WHERE id = ?", now,
            interval.components.seconds, code.id)
    }

    func useDeviceCode(_ code: StoredDeviceCode) throws {
        try connection.execute("UPDATE device_codes SET status = 'used' WHERE id = ?", code.id)
    }

    /// - Parameters:
    ///   - grant: nil if the request was denied.
    ///   - fromAnonymous: whether the user, who is locked, is anonymous.
    /// - Returns: false if the request was already decided or has expired.
    func decide(
        _ request: DeviceRequest, grant: Grant.ID?, authenticatedAt: Timestamp, fromAnonymous: Bool
    ) throws -> Bool {
        try connection.execute(
            """
            UPDATE device_codes SET status = IF(? IS NULL, 'denied', 'approved'), grant_id = ?, authenticated_at = ?,
                                    from_anonymous = ?
            WHERE id = ? AND status = 'pending' AND expires_at > ?
            """, grant, grant, authenticatedAt, fromAnonymous, request.id, now
        ).affectedRows > 0
    }
}
