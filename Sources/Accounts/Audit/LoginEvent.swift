import IdentityTokens
import MariaDB

/// A kind of entry in the login history, which is shown to users (accounts §4.3).
enum LoginEvent: String {
    case webLogin = "web_login"
    case exchange, refused
}

extension AccountsTransaction {
    /// - Parameter provider: nil if no provider was involved.
    func noteLogin(
        _ event: LoginEvent, of user: User.ID, provider: Provider? = nil, on platform: DevicePlatform = .web
    ) throws {
        try connection.execute(
            """
            INSERT INTO login_events (user_id, event, provider, ip, user_agent, platform, created_at)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """, user, event.rawValue, provider?.rawValue, origin.address, origin.userAgent,
            platform.rawValue, now)
    }
}
