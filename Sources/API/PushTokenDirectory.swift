package import Accounts
package import Database
package import Push
package import Time

/// The devices of people, as the sender of notifications asks for them. It has a connection to the database only while there are
/// notifications: mostly there are none.
package final class PushTokenDirectory: PushDirectory {
    private let accounts: Accounts
    private let makeDatabase: @Sendable () -> Database
    /// Nil at rest.
    private var current: Database?

    package init(_ accounts: Accounts, _ makeDatabase: @escaping @Sendable () -> Database) {
        self.accounts = accounts
        self.makeDatabase = makeDatabase
    }

    package func tokens(of user: Int64) throws -> [PushToken] {
        try database.read { try $0.pushTokens(of: User.ID(rawValue: user)) }.map { token in
            PushToken(
                device: token.device.rawValue, text: token.text,
                environment: token.environment == .sandbox ? .sandbox : .production)
        }
    }

    package func forget(_ token: PushToken, goneSince time: Timestamp?) throws {
        try Accounts.write(database, at: accounts.clock, from: Origin(requestID: "push", address: "")) {
            try $0.forgetPushToken(token.text, of: Device.ID(rawValue: token.device), goneSince: time)
        }
    }

    package func rest() { current = nil }

    private var database: Database {
        let database = current ?? makeDatabase()
        current = database
        return database
    }
}
