import Database
import JSON
import MariaDB
import TestSupport
import Testing

/// A node of a cluster may have opened any table without its triggers: whatever request meets it succeeds.
@Suite struct UnreadTriggerTests {
    static let tables = UnreadTriggers.tables.map(\.description)

    let app: TestApp
    let scene: SwapScene

    init() throws {
        app = try TestApp()
        scene = try SwapScene(app)
    }

    @Test(arguments: tables, TestDatabase.TriggerReading.allCases)
    func aMerge(table: String, reading: TestDatabase.TriggerReading) throws {
        let rp = try scene.relyingParty()
        let (a, b, c) = (try scene.member(), try scene.member(), try scene.member())
        for member in [a, b, c] { try scene.furnish(member.id, shared: rp) }
        #expect(try scene.merge(c.id, into: b).status == 200)
        try expectSuccess(table, reading) { try scene.merge(b.id, into: a) }
    }

    /// It deletes a user, and with it rows of tables that no statement names.
    @Test(arguments: tables, TestDatabase.TriggerReading.allCases)
    func aSwap(table: String, reading: TestDatabase.TriggerReading) throws {
        let (a, b) = (try scene.anonymous(), try scene.identified())
        try scene.exampleAssets(of: a, beside: b)
        try expectSuccess(table, reading) { try scene.swap(a, into: b) }
    }

    private func expectSuccess(
        _ table: String, _ reading: TestDatabase.TriggerReading, _ send: () throws -> Answer
    ) throws {
        try app.database.openWithoutTriggers(table, reading)
        // Another test may get the same schema.
        defer { try? app.database.connect().executeScript("FLUSH LOCAL TABLES \(table)") }
        let answer = try send()
        #expect(answer.status == 200, "\(table): \(answer) \(app.log.lines)")
    }
}
