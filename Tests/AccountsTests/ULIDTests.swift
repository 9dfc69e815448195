import Testing
import Time

@testable import Accounts

@Suite struct ULIDTests {
    private let time = Timestamp(milliseconds: 1_469_918_176_385)

    @Test func itBeginsWithItsTime() {
        // The specification's own example.
        let ulid = ULID(at: time, after: nil)
        #expect(ulid.text.hasPrefix("01ARYZ6S41"))
        #expect(ulid.text.wholeMatch(of: /[0-7][0-9A-HJKMNP-TV-Z]{25}/) != nil, "\(ulid.text)")
        #expect(ulid.timestamp == time)
    }

    @Test func twoOfTheSameMomentDiffer() {
        let ulids = Set((1...100).map { _ in ULID(at: time, after: nil).text })
        #expect(ulids.count == 100)
    }

    @Test func eachIsLaterThanTheOneBefore() {
        var last: ULID?
        for milliseconds: Int64 in [5, 5, 5, 4, 0, -1, 6, 1 << 40, 7] {
            for _ in 1...50 {
                let next = ULID(at: Timestamp(milliseconds: milliseconds), after: last)
                if let last { #expect(last < next) }
                last = next
            }
        }
    }

    @Test(arguments: [
        ("01ARYZ6S410000000000000000", "01ARYZ6S410000000000000001"),
        ("01ARYZ6S41000000000000000Z", "01ARYZ6S410000000000000010"),
        ("01ARYZ6S41ZZZZZZZZZZZZZZZZ", "01ARYZ6S420000000000000000"),
    ])
    func theSuccessorIsTheNextNumber(_ text: String, _ next: String) {
        #expect(ULID(at: Timestamp(milliseconds: 0), after: ULID(text: text)).text == next)
    }
}
