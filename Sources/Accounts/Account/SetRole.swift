import JSON
import MariaDB

extension AccountsTransaction {
    /// Gives a user a role. Developers may register applications; administrators may do more.
    ///
    /// - Throws: `RefusedOperation` if there is no such user, or it was absorbed; `adminRequired` as `lock` does.
    package func setRole(_ role: User.Role, of id: User.ID, by changer: Operator = .tool) throws {
        let user = try lock(changer, andLive: id)
        if user.role == role { return }
        try connection.execute(
            "UPDATE users SET version = version + 1, role = ? WHERE id = ?", role.rawValue, id)
        audit(
            .userRoleChanged, user: id, actor: changer.actor,
            ["from": .string(user.role.rawValue), "to": .string(role.rawValue)])
    }
}
