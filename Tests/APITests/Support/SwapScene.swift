import MariaDB

/// An account that signs in with Apple.
struct IdentifiedUser: Sendable {
    let id: Int
    let subject: String
}

struct RelyingParty: Sendable {
    let id: Int
    let clientID: String
}

/// Accounts, and what hangs on them: what a swap meets. Anonymous accounts come by the API, all else by SQL.
///
/// Ids of tables are far apart, so that one kind cannot pass for another.
final class SwapScene {
    let app: TestApp
    let client: Client
    let db: Connection
    private var made = 0

    init(_ app: TestApp) throws {
        self.app = app
        client = app.client()
        db = try app.database.connect()
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

    func next() -> Int {
        made += 1
        return made
    }

    func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: width - digits.count) + digits
    }

    func insert(_ sql: StaticString, _ arguments: (any Bindable)?...) throws -> Int {
        try db.execute(sql, arguments: arguments).lastInsertID
    }
}
