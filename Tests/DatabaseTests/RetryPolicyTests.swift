import Testing

@testable import Database
@testable import MariaDB

struct RetryPolicyTests {
    @Test func theStandardIsThatOfTheAccountsSpecification() {
        #expect(RetryPolicy.standard.attempts == 6)
        #expect(RetryPolicy.standard.patience == .seconds(15))
    }

    @Test(arguments: [(1, 10), (2, 20), (3, 40), (4, 80), (5, 160), (8, 1000), (1000, 1000)])
    func fullJitter(_ attempt: Int, _ bound: Int) throws {
        let deadlock = MariaDBError(code: 1213, sqlState: "40001", serverMessage: "Deadlock found", sql: "")
        let delays = (0..<1000).map { _ in RetryPolicy.standard.delay(after: attempt, because: deadlock) }
        let least = try #require(delays.min())
        let greatest = try #require(delays.max())
        #expect(least >= .zero && greatest <= .milliseconds(bound))
        // A thousand draws that all miss a tenth of the range are less likely than a failing processor.
        #expect(least < .milliseconds(bound) / 10 && greatest > .milliseconds(bound) * 9 / 10)
    }

    @Test func whatIsThereAlreadyIsLookedAtAtOnce() {
        let policy = RetryPolicy(racyKeys: ["devices_device_uuid"])
        func duplicate(on key: String) -> MariaDBError {
            MariaDBError(
                code: 1062, sqlState: "23000", serverMessage: "Duplicate entry 'x' for key '\(key)'", sql: "")
        }
        func longest(_ attempt: Int, _ key: String) -> Duration? {
            (0..<100).map { _ in policy.delay(after: attempt, because: duplicate(on: key)) }.max()
        }
        #expect(longest(1, "devices_device_uuid") == .zero)
        #expect(longest(2, "devices_device_uuid") ?? .zero > .zero)
        #expect(longest(1, "PRIMARY") ?? .zero > .zero)
    }
}
