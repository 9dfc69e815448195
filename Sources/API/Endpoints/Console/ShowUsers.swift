import Accounts
import Database
import HTTP
import Pages
import Text

/// `GET /admin/users?query=&before=` (accounts §4.7): looks people up.
@Sendable func showUsers(_ call: Call, _ console: ConsoleVisitor) throws -> Response {
    let (query, before) = (call.searched, try call.before(User.self))
    return try call.show("users", to: console.administrator) { connection in
        try connection.findUsers(query, before: before, limit: ListLimit.usual)
    } answer: { page in
        let filter = query.map { "?query=\(PercentEncoding.encode($0))" } ?? ""
        return .page(
            UsersPage(
                query: query ?? "", users: page.rows.map(ConsoleUser.init),
                paging: Paging(
                    path: ConsoleSection.users.path + filter, isFirst: before == nil, cursor: page.next)),
            in: call.language)
    }
}

/// `GET /admin/users/{id}?before=`: a person, with their audit timeline.
@Sendable func showUser(_ call: Call, _ console: ConsoleVisitor) throws -> Response {
    let (id, before) = (try call.identifier(User.self), try call.before(ListedAuditEntry.self))
    return try call.show("users", of: id, to: console.administrator) { connection in
        (
            try connection.userSummary(id, atMost: ListLimit.onOnePage),
            try connection.auditLog(AuditQuery(user: id), after: before, limit: ListLimit.usual)
        )
    } answer: { summary, timeline in
        guard let summary else { throw Failure.notFound }
        let path = userPath(id)
        return .page(
            UserPage(
                user: ConsoleUser(ListedUser(user: summary.user, mergedInto: summary.absorption?.survivor)),
                contents: UserPage.Contents(summary), timeline: timeline.rows.map(ConsoleAuditEntry.init),
                paging: Paging(path: path, isFirst: before == nil, cursor: timeline.next),
                role: call.form(to: "\(path)/role", of: console),
                revokeSessions: call.form(to: "\(path)/revoke_sessions", of: console),
                restore: call.form(to: "\(path)/restore", of: console), isDone: call.isDone),
            in: call.language)
    }
}

/// `POST /admin/users/{id}/role`: gives a user a role.
@Sendable func changeRole(_ call: Call, _ console: ConsoleVisitor) throws -> Response {
    let id = try call.identifier(User.self)
    let wanted = try call.form.value("role")
    return try call.change(from: userPath(id), by: console) { transaction, changer in
        guard let role = User.Role.allCases.first(where: { $0.rawValue == wanted }) else {
            throw ErrorPage.Problem.invalidRequest
        }
        try transaction.setRole(role, of: id, by: changer)
    }
}

/// `POST /admin/users/{id}/revoke_sessions`: cuts a person off.
@Sendable func revokeSessions(_ call: Call, _ console: ConsoleVisitor) throws -> Response {
    let id = try call.identifier(User.self)
    return try call.change(from: userPath(id), by: console) { transaction, changer in
        _ = try transaction.revokeSessions(of: id, by: changer)
    }
}

/// `POST /admin/users/{id}/restore`: takes a deletion back.
@Sendable func restoreUser(_ call: Call, _ console: ConsoleVisitor) throws -> Response {
    let id = try call.identifier(User.self)
    return try call.change(from: userPath(id), by: console) { transaction, changer in
        try transaction.restoreUser(id, by: changer)
    }
}

private func userPath(_ id: User.ID) -> String { "\(ConsoleSection.users.path)/\(id.rawValue)" }

extension ConsoleUser {
    init(_ listed: ListedUser) {
        let user = listed.user
        let role: Role =
            switch user.role {
            case .user: .user
            case .developer: .developer
            case .admin: .admin
            }
        self.init(
            id: String(user.id.rawValue), name: user.name, address: user.contactEmail,
            kind: user.anonymous ? .anonymous : user.previouslyAnonymous ? .previouslyAnonymous : .identified,
            role: role, createdAt: user.createdAt, lastActiveAt: user.lastActiveAt, deletedAt: user.deletedAt,
            purgeAt: user.purgeAt, mergedInto: listed.mergedInto.map { String($0.rawValue) })
    }
}

extension UserPage.Contents {
    fileprivate init(_ summary: UserSummary) {
        self.init(
            nickname: summary.user.nickname,
            identities: summary.identities.lines.map {
                UserPage.Identity(
                    provider: $0.provider, sub: $0.subject, email: $0.email, isVerified: $0.emailVerified,
                    linkedAt: $0.linkedAt)
            },
            devices: summary.devices.lines.map {
                UserPage.Device(
                    uuid: $0.uuid, platform: $0.platform, hasSecret: $0.hasSecret, lastSeenAt: $0.lastSeenAt)
            },
            grants: summary.grants.lines.map {
                UserPage.Grant(
                    clientID: $0.clientID, name: $0.name, sub: $0.sub, scopes: $0.scopes, createdAt: $0.createdAt,
                    revokedAt: $0.revokedAt)
            },
            absorption: summary.absorption.map {
                UserPage.Link(
                    merge: $0.id.text, user: String($0.survivor.rawValue), via: $0.mergedVia,
                    at: $0.createdAt)
            },
            links: summary.links.lines.map {
                UserPage.Link(
                    merge: $0.id.text, user: String($0.absorbed.rawValue), via: $0.mergedVia,
                    at: $0.createdAt)
            },
            absorbedSubs: summary.absorbedSubs.lines.map {
                UserPage.AbsorbedSub(clientID: $0.clientID, sub: $0.sub, via: $0.via, at: $0.occurredAt)
            },
            livePAKs: summary.livePAKs, webSessions: summary.webSessions,
            pendingApprovals: summary.pendingAgentApprovals,
            truncated: Set(
                [
                    (.identities, summary.identities.hasMore), (.devices, summary.devices.hasMore),
                    (.grants, summary.grants.hasMore), (.links, summary.links.hasMore),
                    (.absorbedSubs, summary.absorbedSubs.hasMore),
                ].compactMap { (list: UserPage.List, hasMore) in hasMore ? list : nil }))
    }
}
