package import Time

/// One partition of an event table. The last one, `later`, has no end and takes the rows of all months without a
/// partition. The first one also takes all older rows.
package struct Partition: Equatable, Sendable {
    /// The partition without an end; the migrations create it.
    static let last = "later"

    package let name: String
    /// The first moment after the partition; nil if it has no end.
    package let end: Timestamp?

    /// The partition's definition in an `ALTER TABLE`.
    static func definition(of month: Month) -> String {
        "PARTITION \(name(of: month)) VALUES LESS THAN ('\(month + 1)-01')"
    }

    static func name(of month: Month) -> String { "p" + month.description.filter { $0 != "-" } }
}

/// A calendar month, UTC.
package struct Month: Hashable, Comparable, Sendable {
    /// The number of months since January of the year 0.
    private let number: Int

    private init(number: Int) { self.number = number }

    package init(containing time: Timestamp) {
        let civil = CivilTime(time)
        number = civil.year * 12 + civil.month - 1
    }

    package var start: Timestamp { Timestamp(CivilTime(year: number / 12, month: number % 12 + 1, day: 1)) }

    package static func < (left: Month, right: Month) -> Bool { left.number < right.number }

    package static func + (month: Month, count: Int) -> Month { Month(number: month.number + count) }

    /// The months from this one to another, both included; none if the other is earlier.
    package func through(_ last: Month) -> [Month] {
        (number..<max(number, last.number + 1)).map(Month.init(number:))
    }
}

extension Month: CustomStringConvertible {
    /// `2026-05`
    package var description: String { String(start.iso8601.prefix(7)) }
}
