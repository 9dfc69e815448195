import Accounts
import HTTP

extension Routes {
    /// Administration (accounts §4.7): JSON to read, and pages to read and write.
    static let administration: [Route] = [
        Route(.get, "/api/v1/admin/overview", .administrator, readOverview),
        Route(.get, "/api/v1/admin/users", .administrator, findUsers),
        Route(.get, "/api/v1/admin/users/{id}", .administrator, readUser),
        Route(.get, "/api/v1/admin/merges", .administrator, listMerges),
        Route(.get, "/api/v1/admin/merges/{id}", .administrator, readMerge),
        Route(.get, "/api/v1/admin/applications", .administrator, listAllApplications),
        Route(.get, "/api/v1/admin/webhook_outbox", .administrator, listOutbox),
        Route(.get, "/api/v1/admin/keys", .administrator, listKeys),
        Route(.get, "/api/v1/admin/audit_log", .administrator, listAuditLog),

        // For support staff
        Route(.get, "/admin", .console, page: true, showOverview),
        Route(.get, "/admin/users", .console, page: true, showUsers),
        Route(.get, "/admin/users/{id}", .console, page: true, showUser),
        Route(.post, "/admin/users/{id}/role", .console, page: true, changeRole),
        Route(.post, "/admin/users/{id}/revoke_sessions", .console, page: true, revokeSessions),
        Route(.post, "/admin/users/{id}/restore", .console, page: true, restoreUser),
        Route(.get, "/admin/merges", .console, page: true, showMerges),
        Route(.get, "/admin/merges/{id}", .console, page: true, showMerge),
        Route(.post, "/admin/merges/{id}/undo", .console, page: true, undoMerge),
        Route(.get, "/admin/applications", .console, page: true, showApplications),
        Route(.get, "/admin/applications/{client_id}", .console, page: true, showAnyApplication),
        Route(.post, "/admin/applications/{client_id}/approve", .console, page: true, approveAnyApplication),
        Route(.post, "/admin/applications/{client_id}/suspend", .console, page: true, suspendApplication),
        Route(.post, "/admin/applications/{client_id}/flags", .console, page: true, setApplicationFlags),
        Route(.post, "/admin/applications/{client_id}/webhook_enable", .console, page: true, enableReceiver),
        Route(.get, "/admin/webhook_outbox", .console, page: true, showOutbox),
        Route(.post, "/admin/webhook_outbox/{event_id}/replay", .console, page: true, replayEvent),
        Route(.get, "/admin/keys", .console, page: true, showKeys),
        Route(.get, "/admin/audit_log", .console, page: true, showAuditLog),
    ]
}
