package import Accounts
package import Database
package import Push
package import Time

/// The devices of people, as the sender of notifications asks for them. It connects to the database for each question: they
/// are rare, and a connection kept for them would count for every instance.
package final class PushTokenDirectory: PushDirectory {
    private let accounts: Accounts
    private let makeDatabase: @Sendable () -> Database

    package init(_ accounts: Accounts, _ makeDatabase: @escaping @Sendable () -> Database) {
        self.accounts = accounts
        self.makeDatabase = makeDatabase
    }

    package func tokens(of user: Int64) throws -> [PushToken] {
        try makeDatabase().read { try $0.pushTokens(of: User.ID(rawValue: user)) }.map { token in
            PushToken(
                device: token.device.rawValue, text: token.text,
                environment: token.environment == .sandbox ? .sandbox : .production)
        }
    }

    package func forget(_ token: PushToken, goneSince time: Timestamp?) throws {
        try Accounts.write(makeDatabase(), at: accounts.clock, from: Origin(requestID: "push", address: "")) {
            try $0.forgetPushToken(token.text, of: Device.ID(rawValue: token.device), goneSince: time)
        }
    }
}
