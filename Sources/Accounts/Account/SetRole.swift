import JSON
import MariaDB

extension AccountsTransaction {
    /// Gives a user a role. Developers may register applications; administrators may do more.
    package func setRole(_ role: User.Role, of id: User.ID) throws {
        guard let user = try lockUsers(id)[id], user.deletedAt == nil else {
            throw RefusedOperation("there is no user \(id.rawValue)")
        }
        if user.role == role { return }
        try connection.execute(
            "UPDATE users SET version = version + 1, role = ? WHERE id = ?", role.rawValue, id)
        audit(
            .userRoleChanged, user: id, actor: .operator,
            ["from": .string(user.role.rawValue), "to": .string(role.rawValue)])
    }
}
