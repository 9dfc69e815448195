import IdentityTokens
import MariaDB

/// A kind of entry in the login history, which is shown to users (accounts §4.3).
enum LoginEvent: String {
    /// A device opened the account of its owner, who may be new.
    case bootstrap
    /// A provider's identity token opened the account in an app.
    case session
    /// An application's access token was exchanged for a PAK.
    case exchange
    /// One more identity opens the account.
    case linked
    /// The account stopped being anonymous, by a link or by a sign-in.
    case promoted
    /// An anonymous account went into this one, whose PAK its phone got.
    case swapped
    /// Another account went into this one, which its identities open now.
    case merged
    case webLogin = "web_login"
    /// Somebody was not let in.
    case refused
}

extension AccountsTransaction {
    /// Adds to a user's login history. The user is locked.
    ///
    /// Only so many refusals are noted in an hour: otherwise whoever guesses could bury the rest of somebody's history.
    ///
    /// - Parameters:
    ///   - provider: nil if no provider was involved.
    ///   - platform: nil if it is the device's, or unknown.
    ///   - device: the one that was used, if its platform is not given.
    ///   - place: where the sign-in came from; nil: from where the request did.
    func noteLogin(
        _ event: LoginEvent, of user: User.ID, provider: Provider? = nil, on platform: DevicePlatform? = .web,
        device: Device.ID? = nil, from place: Origin? = nil
    ) throws {
        if event == .refused, try count(.notedRefusals, for: "\(user.rawValue)") != nil { return }
        let place = place ?? origin
        let address = place.address.isEmpty ? nil : place.address
        if let device, platform == nil {
            try connection.executeLater(
                """
                INSERT INTO login_events (user_id, event, provider, ip, user_agent, platform, created_at)
                VALUES (?, ?, ?, ?, ?, (SELECT platform FROM devices WHERE id = ?), ?)
                """, user, event.rawValue, provider?.rawValue, address, place.userAgent, device, now)
        } else {
            try connection.executeLater(
                """
                INSERT INTO login_events (user_id, event, provider, ip, user_agent, platform, created_at)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """, user, event.rawValue, provider?.rawValue, address, place.userAgent, platform?.rawValue, now)
        }
    }
}
