import Accounts
import Database
import TestSupport
import Testing

/// Counters that all instances share (accounts §0.2).
@Suite struct LimitTests {
    let app: TestApp
    let database: Database
    private static let origin = Origin(requestID: "test", address: "")

    init() throws {
        app = try TestApp()
        database = Database(app.database.options)
    }

    private func count(_ limit: Limit, for subject: String = "1") throws -> Duration? {
        try transact { try $0.count(limit, for: subject) }
    }

    private func transact<Result>(_ body: (AccountsTransaction) throws -> Result) throws -> Result {
        try Accounts.write(database, at: app.time.clock, from: Self.origin, body)
    }

    @Test func tenAreAllowedAndTheNextWaits() throws {
        for _ in 1...10 {
            #expect(try count(.userCodeTries) == nil)
            app.time.advance(by: .seconds(30))
        }
        #expect(try count(.userCodeTries) == .seconds(300))
        app.time.advance(by: .milliseconds(299_999))
        #expect(try count(.userCodeTries) == .milliseconds(1))
        app.time.advance(by: .milliseconds(1))
        for _ in 1...10 { #expect(try count(.userCodeTries) == nil) }
        #expect(try count(.userCodeTries) == .seconds(600))
    }

    @Test func theLongestOfSeveralWaitsCounts() throws {
        for _ in 1...3 {
            for _ in 1...10 { #expect(try count(.applicationCreation) == nil) }
            app.time.advance(by: .seconds(3600))
        }
        #expect(try count(.applicationCreation) == .seconds(21 * 3600))
        app.time.advance(by: .seconds(21 * 3600))
        #expect(try count(.applicationCreation) == nil)
    }

    @Test func subjectsAndLimitsAreCountedApart() throws {
        for _ in 1...11 { _ = try count(.pakExchange) }
        #expect(try count(.pakExchange) == .seconds(3600))
        #expect(try count(.pakExchange, for: "2") == nil)
        #expect(try count(.pakExchange, for: "1\n") == nil)
        #expect(try count(.userCodeTries) == nil)
        #expect(try app.count("SELECT COUNT(*) FROM rate_limits") == 4)
    }

    @Test func whatIsThrownTakesTheCountBack() throws {
        struct Refusal: Error {}
        for _ in 1...20 {
            #expect(throws: Refusal.self) {
                try transact { transaction in
                    #expect(try transaction.count(.pakExchange, for: "1") == nil)
                    throw Refusal()
                }
            }
        }
        #expect(try app.count("SELECT COUNT(*) FROM rate_limits") == 0)
    }

    @Test func instancesCountTogether() throws {
        let (options, clock) = (app.database.options, app.time.clock)
        let answers = app.race(8, rounds: 4) { _, _, _ in
            Result {
                try Accounts.write(Database(options), at: clock, from: Self.origin) {
                    try $0.count(.pakExchange, for: "1")
                }
            }
        }
        #expect(try answers.joined().filter { try $0.get() == nil }.count == 10)
        #expect(try app.count("SELECT count FROM rate_limits") == 32)
    }
}
