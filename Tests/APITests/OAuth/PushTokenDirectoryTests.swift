import API
import Database
import MariaDB
import Push
import TestSupport
import Testing

/// The connection that the sender of notifications keeps while there are any.
@Suite struct PushTokenDirectoryTests {
    private let scene: OAuthScene
    private let user: Int64
    private let statistics = DatabaseStatistics()
    private let directory: PushTokenDirectory
    private let watcher: Connection

    init() throws {
        scene = try OAuthScene()
        let phone = try scene.person("ada", email: "ada@example.com")
        #expect(scene.registerForPush(phone).status == 204)
        user = Int64(phone.userID)
        let options = scene.app.database.options
        directory = PushTokenDirectory(scene.app.service.accounts) { [statistics] in
            Database(options, statistics: statistics)
        }
        watcher = try scene.app.database.connect()
    }

    private func connections() throws -> Set<Int> {
        Set(
            try watcher.all(
                "SELECT id FROM information_schema.processlist WHERE db = DATABASE()"
            ) { row in try row.read(Int.self) })
    }

    @Test func aConnectionThatTheServerEndedIsReplaced() throws {
        let others = try connections()
        func end() throws {
            for id in try connections().subtracting(others) { try watcher.query("KILL \(id)") }
        }
        let token = try #require(try directory.tokens(of: user).first)
        #expect(try connections().subtracting(others).count == 1)
        try end()
        #expect(try directory.tokens(of: user) == [token])
        try end()
        try directory.forget(token, goneSince: nil)
        #expect(try directory.tokens(of: user).isEmpty)
        #expect(statistics.openConnections.value == 1 && statistics.reconnects.value == 2)
        directory.rest()
        #expect(statistics.openConnections.value == 0)
        #expect(try directory.tokens(of: user).isEmpty)
    }
}
