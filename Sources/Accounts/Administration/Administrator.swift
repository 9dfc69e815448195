import JSON
import MariaDB

/// A user whose role was admin when they were let in.
package struct Administrator: Sendable {
    package let user: User

    /// - Throws: `adminRequired`.
    package init(_ user: User) throws(Failure) {
        guard user.role == .admin else { throw .adminRequired }
        self.user = user
    }

    var actor: AuditEntry.Actor { .user(user.id) }
}

/// Who changes something in the name of the installation.
package enum Operator: Sendable {
    case tool
    /// On a page. The role and the session are checked again under their locks.
    case administrator(WebSession)

    var actor: AuditEntry.Actor {
        switch self {
        case .tool: .operator
        case .administrator(let session): .user(session.user.id)
        }
    }
}

extension AccountsTransaction {
    /// Writes to the audit log what an administrator looked at (accounts §4.7). What they searched for is not written:
    /// it may be an address, which a purge would have to find.
    ///
    /// - Parameters:
    ///   - resource: the part of the console.
    ///   - id: of the one thing that they looked at; nil if it is a list, or a user.
    ///   - user: whom they looked at; nil if nobody in particular.
    package func noteLook(
        at resource: String, id: String?, _ user: User.ID?, by administrator: Administrator
    ) throws {
        // The row refers to the user, who may have been swapped away meanwhile.
        let present = try user.flatMap { id in
            try connection.first("SELECT id FROM users WHERE id = ? LOCK IN SHARE MODE", id) { row in
                try row.read(User.ID.self)
            }
        }
        let details: AuditEntry.Details =
            id.map { ["resource": .string(resource), "id": .string($0)] } ?? ["resource": .string(resource)]
        audit(.administrationRead, user: present, actor: administrator.actor, details)
    }

    /// Locks whoever changes something, and the users that it is about. Then reads again whether they may.
    ///
    /// - Returns: the users that still exist, by id.
    /// - Throws: `adminRequired` if the role was taken away or the session ended meanwhile.
    func lock(_ changer: Operator, and users: [User.ID] = []) throws -> [User.ID: User] {
        guard case .administrator(let session) = changer else { return try lockUsers(users) }
        let locked = try lockUsers(users + [session.user.id])
        // Without a lock: what is changed comes before web sessions in the lock order, and a session that ends a moment later
        // was still there.
        let isLive = try connection.first(
            "SELECT 1 FROM web_sessions WHERE id = ? AND user_id = ?", session.id, session.user.id
        ) { row in try row.read(Int64.self) }
        guard let user = locked[session.user.id], user.deletedAt == nil, user.role == .admin, isLive != nil else {
            throw Failure.adminRequired
        }
        return locked
    }

    /// Locks whoever changes something, and the live account that it is about. An absorbed account has nothing of its own
    /// to change: who signs in to it gets the survivor.
    ///
    /// - Throws: `RefusedOperation` if there is no such user, or it was absorbed; `adminRequired` as `lock` does.
    func lock(_ changer: Operator, andLive id: User.ID) throws -> User {
        guard let user = try lock(changer, and: [id])[id], user.deletedAt == nil else {
            throw RefusedOperation("there is no user \(id.rawValue)")
        }
        if let merge = try connection.merge(ofAbsorbed: id) {
            throw RefusedOperation(
                "user \(id.rawValue) was merged into user \(merge.survivor.rawValue); change that one")
        }
        return user
    }
}
