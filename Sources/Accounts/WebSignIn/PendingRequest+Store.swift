import JSON
package import MariaDB
import Time

extension Accounts {
    /// The pending request with a handle; nil if there is none, it has expired, or it belongs to another browser.
    package func pendingRequest(
        _ handle: String, in browser: Browser, _ connection: Connection
    ) throws -> PendingRequest? {
        let parameters = try connection.first(
            "SELECT parameters FROM authorization_requests WHERE digest = ? AND browser_digest = ? AND expires_at > ?",
            Secret(presented: handle).digest, browser.digest, clock.now
        ) { row in try row.read(String.self) }
        return try parameters.map {
            let stored = try StoredParameters(json: Array($0.utf8))
            return PendingRequest(
                handle: handle, browser: browser,
                purpose: stored.purpose,
                staleSession: stored.staleSession.map(WebSession.ID.init(rawValue:)))
        }
    }
}

extension AccountsTransaction {
    /// Stores a request that waits for its user.
    ///
    /// - Parameters:
    ///   - application: the one that sent the request.
    ///   - staleSession: see `PendingRequest`.
    package func store(
        _ purpose: PendingRequest.Purpose, of application: Application.ID?, in browser: Browser,
        staleSession: WebSession.ID? = nil
    ) throws -> PendingRequest {
        try forgetExpiredRequests()
        let handle = Secret(.plain)
        var stored = StoredParameters(staleSession: staleSession?.rawValue)
        switch purpose {
        case .authorization(let request): stored.authorization = request
        case .device(let userCode): stored.userCode = userCode
        case .page(let path): stored.page = path
        case .account(let user, let trip): (stored.user, stored.trip) = (user.rawValue, trip)
        }
        try connection.execute(
            """
            INSERT INTO authorization_requests (digest, browser_digest, application_id, parameters, created_at, expires_at)
            VALUES (?, ?, ?, ?, ?, ?)
            """, handle.digest, browser.digest, application, String(decoding: stored.json(), as: UTF8.self), now,
            now + PendingRequest.lifetime)
        return PendingRequest(handle: handle.text, browser: browser, purpose: purpose, staleSession: staleSession)
    }

    /// Has the request remember that its user chose another account, however often they set out to a provider.
    ///
    /// A stale session that the request has already says the same, and stays: it must not count again.
    ///
    /// - Parameter session: the one that ends; nil if there is none.
    package func wantAnotherAccount(for request: PendingRequest, than session: WebSession?) throws {
        // 0 is no session's id.
        try connection.executeLater(
            """
            UPDATE authorization_requests SET parameters = JSON_INSERT(parameters, '$.stale_session', ?)
            WHERE digest = ?
            """, session?.id ?? WebSession.ID(rawValue: 0), Secret(presented: request.handle).digest)
    }
}

private struct StoredParameters: Codable {
    var authorization: AuthorizationRequest?
    var userCode: String?
    var page: String?
    var user: Int64?
    var trip: AccountTrip?
    var staleSession: Int64?

    var purpose: PendingRequest.Purpose {
        if let authorization { return .authorization(authorization) }
        if let page { return .page(path: page) }
        if let user, let trip { return .account(User.ID(rawValue: user), trip) }
        return .device(userCode: userCode)
    }
}
