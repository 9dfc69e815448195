import IdentityTokens
import MariaDB
import TestSupport

extension SwapScene {
    /// An anonymous account on a phone of its own.
    func anonymous() throws -> Phone { try client.bootstrap(next()) }

    func identified(name: String? = "Bea", email: String? = nil) throws -> IdentifiedUser {
        let id = try insert(
            "INSERT INTO users (anonymous, name, contact_email, created_at, last_active_at) VALUES (0, ?, ?, ?, ?)",
            name, email, app.time.now, app.time.now)
        let user = IdentifiedUser(id: id, subject: "subject-\(id)")
        try identity(user.subject, of: id)
        return user
    }

    func identity(_ subject: String, _ provider: Provider = .apple, of user: Int) throws {
        try db.write(
            "INSERT INTO identities (user_id, provider, sub, linked_at) VALUES (?, ?, ?, ?)", user, provider.rawValue,
            subject, app.time.now)
    }

    /// Another phone of an account, with a PAK on it.
    @discardableResult
    func phone(of user: Int) throws -> (id: Int, uuid: String, token: String, secret: String) {
        let (uuid, token) = (uuid(next()), "lpk_live_of-phone-\(next())")
        let secret = "ds_of-phone-\(next())"
        let id = try insert(
            """
            INSERT INTO devices (user_id, device_uuid, platform, secret_digest)
            VALUES (?, ?, 'ios', UNHEX(SHA2(?, 256)))
            """, user, uuid, secret)
        try pak(token, of: user, on: id)
        return (id, uuid, token, secret)
    }

    func pak(_ token: String, of user: Int, on device: Int?) throws {
        try db.write(
            """
            INSERT INTO paks (user_id, device_id, digest, scopes, created_at)
            VALUES (?, ?, UNHEX(SHA2(?, 256)), 'profile:read profile:write account:delete', ?)
            """, user, device, token, app.time.now)
    }
}
