package import MariaDB
import Text
package import Time

/// Where the app on a device takes notifications (accounts §4.2).
package struct DevicePushToken: Sendable {
    package enum Environment: String, Sendable, CaseIterable {
        case sandbox, production
    }

    package let device: Device.ID
    package let text: String
    package let environment: Environment

    /// The token as it is stored; nil if Apple makes no such tokens.
    package static func checked(_ text: String) -> String? {
        let isToken =
            (16...200).contains(text.utf8.count) && text.utf8.count % 2 == 0
            && text.utf8.allSatisfy { $0.hexadecimalValue != nil }
        return isToken ? text.lowercased() : nil
    }
}

extension Accounts {
    /// Registers the token of the caller's device, in place of the one before. An app that was installed anew may have the
    /// token of a device that the server still knows: that one loses it, since it would be the same phone twice.
    ///
    /// - Throws: `invalidRequest` if the PAK has no device.
    package func registerPushToken(
        _ text: String, _ environment: DevicePushToken.Environment, of caller: Caller,
        in transaction: AccountsTransaction
    ) throws {
        _ = try transaction.lockCaller(caller)
        let connection = transaction.connection
        let device = try connection.first(
            "SELECT d.id FROM paks p JOIN devices d ON d.id = p.device_id WHERE p.id = ? AND d.user_id = ?", caller.pak,
            caller.id
        ) { row in try row.read(Device.ID.self) }
        guard let device else { throw Failure.invalidRequest }
        // In one statement: after a DELETE of its own, another device's registration could come between.
        try connection.execute(
            "REPLACE INTO push_tokens (device_id, token, environment, updated_at) VALUES (?, ?, ?, ?)", device, text,
            environment.rawValue, transaction.now)
    }
}

extension Connection {
    /// Those of a user's devices that can answer: whoever has signed out of the app is not asked there. At most 20, the last
    /// registered ones: a person has fewer, and whoever registers thousands keeps nobody else from being notified.
    package func pushTokens(of user: User.ID) throws -> [DevicePushToken] {
        try all(
            """
            SELECT t.device_id, t.token, t.environment
            FROM devices d STRAIGHT_JOIN push_tokens t ON t.device_id = d.id
            WHERE d.user_id = ? AND EXISTS (
                SELECT 1 FROM paks p WHERE p.device_id = d.id AND p.revoked_at IS NULL AND p.user_id = d.user_id)
            ORDER BY t.updated_at DESC, t.device_id LIMIT 20
            """, user
        ) { row in
            DevicePushToken(
                device: try row.read(), text: try row.read(),
                environment: DevicePushToken.Environment(rawValue: try row.read()) ?? .production)
        }
    }
}

extension AccountsTransaction {
    /// Nobody is asked on the user's devices until the app registers again.
    func forgetPushTokens(of user: User.ID) throws {
        try forgetPushTokens(on: connection.devices(of: user).map(Device.ID.init(rawValue:)))
    }

    /// For devices that get another owner, who must not be asked on the phone of the one before: that phone registered the token. The
    /// trigger `push_tokens_end_with_owner` does the same for the release before, and goes with the next one.
    func forgetPushTokens(on devices: [Device.ID]) throws {
        if devices.isEmpty { return }
        let ids = devices.map { String($0.rawValue) }.joined(separator: ",")
        try connection.execute(
            """
            DELETE t FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$')) j
            STRAIGHT_JOIN push_tokens t ON t.device_id = j.id
            """, "[\(ids)]")
    }

    /// Removes the token of an app that is gone from its device.
    ///
    /// - Parameter time: since when it is gone. A token that was registered later stays: the app is back.
    package func forgetPushToken(_ token: String, of device: Device.ID, goneSince time: Timestamp?) throws {
        try connection.execute(
            "DELETE FROM push_tokens WHERE device_id = ? AND token = ? AND updated_at <= ?", device, token, time ?? now)
    }
}
