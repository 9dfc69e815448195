import Testing

@testable import Database

struct RetryPolicyTests {
    @Test func theStandardIsThatOfTheAccountsSpecification() {
        #expect(RetryPolicy.standard.attempts == 6)
        #expect(RetryPolicy.standard.patience == .seconds(15))
    }

    @Test(arguments: [(1, 10), (2, 20), (3, 40), (4, 80), (5, 160), (8, 1000), (1000, 1000)])
    func fullJitter(_ attempt: Int, _ bound: Int) throws {
        let delays = (0..<1000).map { _ in RetryPolicy.standard.delay(after: attempt) }
        let least = try #require(delays.min())
        let greatest = try #require(delays.max())
        #expect(least >= .zero && greatest <= .milliseconds(bound))
        // A thousand draws that all miss a tenth of the range are less likely than a failing processor.
        #expect(least < .milliseconds(bound) / 10 && greatest > .milliseconds(bound) * 9 / 10)
    }
}
