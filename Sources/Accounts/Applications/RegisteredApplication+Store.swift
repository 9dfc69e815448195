import JSON
package import MariaDB

extension Connection {
    private static let select: StaticString = """
        SELECT a.id, a.client_id, a.name, a.client_type, a.status, a.redirect_uris, a.allowed_scopes, a.app_link_url,
               a.webhook_url, a.backchannel_logout_uri, a.scope_policy, a.notify_anonymous_swap,
               a.allow_anonymous_grants, a.first_party, a.linked_sub_details, a.owner_user_id, a.created_at,
               a.pending_changes, a.post_logout_redirect_uris, a.webhook_events, a.webhook_disabled_at
        FROM applications a
        """

    /// Every application in the order of their creation.
    package func registeredApplications() throws -> [RegisteredApplication] {
        var sql = ComposedSQL(Self.select)
        sql.append(" ORDER BY a.id")
        return try all(sql) { row in try RegisteredApplication(from: &row) }
    }

    /// The newest first.
    ///
    /// - Parameter before: the last application of the page before.
    package func registeredApplications(
        before: Application.ID?, limit: Int
    ) throws -> ListPage<RegisteredApplication> {
        var sql = ComposedSQL(Self.select)
        sql.append(" WHERE a.id < ? ORDER BY a.id DESC LIMIT ?", before ?? .last, limit + 1)
        let found = try all(sql) { row in try RegisteredApplication(from: &row) }
        return ListPage(found, limit: limit) { String($0.id.rawValue) }
    }

    package func registeredApplication(_ clientID: String) throws -> RegisteredApplication? {
        guard clientID.isASCII else { return nil }
        var sql = ComposedSQL(Self.select)
        sql.append(" WHERE a.client_id = ?", clientID)
        return try first(sql) { row in try RegisteredApplication(from: &row) }
    }

    /// One developer's applications in the order of their creation.
    package func registeredApplications(of owner: User.ID) throws -> [RegisteredApplication] {
        var sql = ComposedSQL(Self.select)
        sql.append(" WHERE a.owner_user_id = ? ORDER BY a.id", owner)
        return try all(sql) { row in try RegisteredApplication(from: &row) }
    }

    /// Reads an application, and locks it until the transaction ends.
    func lockApplication(_ clientID: String) throws -> RegisteredApplication? {
        guard clientID.isASCII else { return nil }
        var sql = ComposedSQL(Self.select)
        sql.append(" WHERE a.client_id = ? FOR UPDATE", clientID)
        return try lockApplication(sql)
    }

    func lockApplication(_ id: Application.ID) throws -> RegisteredApplication? {
        var sql = ComposedSQL(Self.select)
        sql.append(" WHERE a.id = ? FOR UPDATE", id)
        return try lockApplication(sql)
    }

    private func lockApplication(_ sql: ComposedSQL) throws -> RegisteredApplication? {
        let application = try first(sql) { row in try RegisteredApplication(from: &row) }
        if let application { try writeApplicationsOnCluster([application.id]) }
        return application
    }

    /// Lets no transaction on another node of a cluster change these locked applications.
    func writeApplicationsOnCluster(_ ids: [Application.ID]) throws {
        try writeOnCluster("UPDATE applications SET version = version + 1 WHERE id IN ", ids)
    }

    /// Locks applications until the transaction ends, without reading them. A shared lock is what a row needs that refers to
    /// an application.
    ///
    /// - Parameter ids: ascending, as all who lock several lock them.
    func lockApplications(_ ids: some Sequence<Application.ID>, exclusively: Bool) throws {
        let ids = Array(ids)
        if ids.isEmpty { return }
        var sql = ComposedSQL("SELECT id FROM applications")
        sql.append(" WHERE id IN ", oneOf: ids)
        sql.append(exclusively ? " ORDER BY id FOR UPDATE" : " ORDER BY id LOCK IN SHARE MODE")
        _ = try all(sql) { row in try row.read(Application.ID.self) }
        // What refers to an application has a foreign key; nothing else of the application decides.
        if exclusively { try writeApplicationsOnCluster(ids) }
    }

    /// - Returns: the new row's id.
    func insert(_ application: RegisteredApplication, secretDigest: [UInt8]?) throws -> Application.ID {
        let outcome = try execute(
            """
            INSERT INTO applications (client_id, name, client_type, secret_digest, status, redirect_uris, allowed_scopes,
                                      app_link_url, webhook_url, webhook_events, backchannel_logout_uri, scope_policy,
                                      notify_anonymous_swap, allow_anonymous_grants, first_party, linked_sub_details,
                                      owner_user_id, created_at, post_logout_redirect_uris)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, application.clientID, application.name, application.clientType.rawValue, secretDigest,
            application.status.rawValue, String(decoding: application.redirectURIs.json(), as: UTF8.self),
            application.allowedScopes.text, application.appLinkURL, application.webhookURL,
            application.storedWebhookEvents, application.backchannelLogoutURI, application.scopePolicy.rawValue,
            application.notifyAnonymousSwap,
            application.allowAnonymousGrants, application.firstParty, application.linkedSubDetails, application.owner,
            application.createdAt, application.postLogoutRedirectURIsJSON)
        return Application.ID(rawValue: Int64(outcome.lastInsertID))
    }

    /// Writes everything that may change in an application.
    func update(_ application: RegisteredApplication) throws {
        try execute(
            """
            UPDATE applications
            SET name = ?, status = ?, redirect_uris = ?, allowed_scopes = ?, app_link_url = ?, webhook_url = ?,
                webhook_events = ?, backchannel_logout_uri = ?, scope_policy = ?, notify_anonymous_swap = ?,
                allow_anonymous_grants = ?, first_party = ?, linked_sub_details = ?, post_logout_redirect_uris = ?,
                pending_changes = ?
            WHERE id = ?
            """, application.name, application.status.rawValue,
            String(decoding: application.redirectURIs.json(), as: UTF8.self), application.allowedScopes.text,
            application.appLinkURL, application.webhookURL, application.storedWebhookEvents,
            application.backchannelLogoutURI,
            application.scopePolicy.rawValue, application.notifyAnonymousSwap, application.allowAnonymousGrants,
            application.firstParty, application.linkedSubDetails, application.postLogoutRedirectURIsJSON,
            application.pendingChanges.isEmpty
                ? nil : String(decoding: application.pendingChanges.json.json(), as: UTF8.self), application.id)
    }
}

extension AccountsTransaction {
    /// The application that an operator names.
    func lockApplication(_ clientID: String) throws -> RegisteredApplication {
        guard let application = try connection.lockApplication(clientID) else {
            throw RefusedOperation(
                "there is no application \(clientID); `merganserctl application list` shows them")
        }
        return application
    }
}

extension Connection {
    /// How many live grants each application has. Applications without any are missing.
    package func liveGrants() throws -> [Application.ID: Int] {
        let counts = try all(
            "SELECT application_id, COUNT(*) FROM grants WHERE revoked_at IS NULL GROUP BY application_id"
        ) { row in (try row.read(Application.ID.self), try row.read(Int.self)) }
        return Dictionary(uniqueKeysWithValues: counts)
    }

    package func liveGrants(of application: Application.ID) throws -> Int {
        try first("SELECT COUNT(*) FROM grants WHERE application_id = ? AND revoked_at IS NULL", application) { row in
            try row.read()
        } ?? 0
    }
}

extension RegisteredApplication {
    /// Nil if there are none.
    fileprivate var postLogoutRedirectURIsJSON: String? {
        postLogoutRedirectURIs.isEmpty ? nil : String(decoding: postLogoutRedirectURIs.json(), as: UTF8.self)
    }

    fileprivate var storedWebhookEvents: String? { webhookEvents.map { String(decoding: $0.json(), as: UTF8.self) } }

    fileprivate init(from row: inout Row) throws {
        id = try row.read()
        clientID = try row.read()
        name = try row.read()
        clientType = Application.ClientType(rawValue: try row.read()) ?? .public
        status = Application.Status(rawValue: try row.read()) ?? .suspended
        redirectURIs = try [String](json: Array(row.read(String.self).utf8))
        allowedScopes = Scopes(try row.read())
        appLinkURL = try row.read()
        webhookURL = try row.read()
        backchannelLogoutURI = try row.read()
        scopePolicy = Application.ScopePolicy(rawValue: try row.read()) ?? .block
        notifyAnonymousSwap = try row.read()
        allowAnonymousGrants = try row.read()
        firstParty = try row.read()
        linkedSubDetails = try row.read()
        owner = try row.read()
        createdAt = try row.read()
        if let changes = try row.read(String?.self) {
            pendingChanges = PendingChanges(json: try JSONValue(json: Array(changes.utf8)))
        }
        if let uris = try row.read(String?.self) { postLogoutRedirectURIs = try [String](json: Array(uris.utf8)) }
        webhookEvents = try row.read(String?.self).map { try [String](json: Array($0.utf8)) }
        webhookDisabledAt = try row.read()
    }
}
