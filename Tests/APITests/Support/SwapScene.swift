import MariaDB
import TestSupport

/// An account that signs in with Apple.
struct IdentifiedUser: Sendable {
    let id: Int
    let subject: String
}

struct RelyingParty: Sendable {
    let id: Int
    let clientID: String
}

/// Accounts and everything that belongs to them, for swaps. Anonymous accounts are created through the API, everything
/// else by SQL.
///
/// On a schema of the test's own, ids of tables are far apart, so that one kind cannot pass for another.
final class SwapScene {
    let app: TestApp
    let client: Client
    let db: Connection
    private var made: Int

    init(_ app: TestApp) throws {
        self.app = app
        made = app.firstNumber
        client = app.client()
        db = try app.database.connect()
        // Altering a table waits for everybody else's transactions.
        if app.isAlone {
            try db.executeScript(
                """
                ALTER TABLE users AUTO_INCREMENT = 1001;
                ALTER TABLE applications AUTO_INCREMENT = 2001;
                ALTER TABLE grants AUTO_INCREMENT = 3001;
                ALTER TABLE agents AUTO_INCREMENT = 4001;
                ALTER TABLE agent_approvals AUTO_INCREMENT = 5001;
                ALTER TABLE push_approval_requests AUTO_INCREMENT = 6001;
                ALTER TABLE devices AUTO_INCREMENT = 7001;
                ALTER TABLE paks AUTO_INCREMENT = 8001
                """)
        }
    }

    func next() -> Int {
        made += 1
        return made
    }

    func insert(_ sql: StaticString, _ arguments: any Bindable...) throws -> Int {
        try db.write(sql, arguments: arguments).lastInsertID
    }
}

/// With zeros in front.
func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: width - digits.count) + digits
}
