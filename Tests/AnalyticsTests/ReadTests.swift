import Analytics
import Testing
import Time

struct ReadTests {
    // MARK: Times

    @Test(arguments: [
        ("30s", 30), ("30m", 1800), ("1h", 3600), ("7d", 604_800), ("1w", 604_800), ("0s", 0), ("007s", 7),
        ("999999w", 1_800_000_000), ("9999999999999999999999s", 1_800_000_000),
    ])
    func relativeTimesAreBeforeNow(text: String, seconds: Int64) throws {
        let now = Timestamp(seconds: 1_800_000_000)
        #expect(try Timestamp(filter: text, now: now) == Timestamp(seconds: now.seconds - seconds))
    }

    @Test func absoluteTimesAreFiltersToo() throws {
        let time = try Timestamp(filter: "2025-01-15T10:30:00+01:00", now: Timestamp(seconds: 0))
        #expect(time.iso8601Milliseconds == "2025-01-15T09:30:00.000Z")
    }

    @Test(arguments: ["", "s", "1", "1y", "1M", "1 h", "-1h", "+1h", "1.5h", "h1", "1hh", "yesterday", "２h"])
    func otherFiltersAreNamed(text: String) {
        let refusal = Refusal.invalid(
            "Invalid time input: \"\(text)\". Use relative (e.g. 1h, 30m, 7d) or ISO 8601 format.")
        #expect(throws: refusal) { try Timestamp(filter: text, now: Timestamp(seconds: 0)) }
    }

    // MARK: Pages

    @Test(
        arguments: [
            (nil, 50), ("", 50), ("x", 50), ("1.5", 50), (" 1", 50), ("+7", 50), ("-", 50), ("1e2", 50), ("１", 50),
            ("1", 1), ("199", 199), ("200", 200), ("0", 1), ("-5", 1), ("201", 200), ("007", 7),
            ("99999999999999999999999", 200), ("-99999999999999999999999", 1),
        ] as [(String?, Int)])
    func limitsAreClamped(text: String?, limit: Int) { #expect(PageLimit(text).rawValue == limit) }

    @Test func cursorsAreReadAsWritten() throws {
        let id = UUID(at: Timestamp(seconds: 5))
        let text = Cursor(time: Timestamp(milliseconds: 1234), id: ListedEvent.ID(rawValue: id)).description
        #expect(text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
        let cursor = try #require(Cursor<ListedEvent.ID>(text))
        #expect(cursor.time == Timestamp(milliseconds: 1234))
        #expect(cursor.id.rawValue == id)
        #expect(Cursor<Int64>(Cursor<Int64>(time: Timestamp(seconds: -5), id: 7).description)?.id == 7)
        #expect(Cursor<Int64>(text) == nil)
    }

    /// base64url of: nothing, one part, no number, no id, three parts, an id of another kind, a time that no column can
    /// hold.
    @Test(arguments: [
        "", "MQ", "eCAx", "MSA", "MSAyIDM", "MSB4", "OTIyMzM3MjAzNjg1NDc3NTgwNyAx", "LTkyMjMzNzIwMzY4NTQ3NzU4MDggMQ",
        "MSAx=",
        "MSAx ", "ä", "_w",
    ])
    func aMalformedCursorIsNone(text: String) { #expect(Cursor<Int64>(text) == nil) }

    private func page(_ rows: [Int64], limit: String, bytes: Int = 1, bound: Int64? = nil) -> PageKeys<Int64> {
        func position(_ id: Int64) -> Cursor<Int64> { Cursor(time: Timestamp(seconds: id), id: id) }
        return PageKeys(
            rows.map { PageKeys.Key(position: position($0), bytes: bytes) }, PageLimit(limit),
            bound: bound.map(position))
    }

    @Test func theCursorNamesTheLastRowOfAFullPage() {
        #expect(page([1, 2], limit: "2").next == nil)
        #expect(page([1, 2, 3], limit: "2").positions.map(\.id) == [1, 2])
        #expect(page([1, 2, 3], limit: "2").next?.id == 2)
        #expect(page([], limit: "2").next == nil)
    }

    @Test func itNamesTheLastRowLookedAtOfAnotherPage() {
        #expect(page([1, 2], limit: "2", bound: 7).next?.id == 7)
        #expect(page([], limit: "2", bound: 7).next?.id == 7)
        #expect(page([1, 2, 3], limit: "2", bound: 7).next?.id == 2)
    }

    @Test func aPageEndsBeforeItsRowsTakeTooMuch() {
        let budget = PageKeys<Int64>.byteBudget
        #expect(page([1, 2, 3], limit: "3", bytes: budget / 2).positions.map(\.id) == [1, 2])
        #expect(page([1, 2, 3], limit: "3", bytes: budget / 2, bound: 7).next?.id == 2)
        #expect(page([1, 2], limit: "2", bytes: budget / 2).next == nil)
        #expect(page([1, 2], limit: "2", bytes: budget + 1).positions.map(\.id) == [1])
        #expect(page([1], limit: "2", bytes: budget + 1).next == nil)
    }
}
