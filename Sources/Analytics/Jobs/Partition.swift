package import Time

/// One partition of an event table. `later`, the last, has no end and takes the rows of months that have none of their own;
/// the first takes everything older too.
package struct Partition: Equatable, Sendable {
    /// The open-ended one; the migrations make it.
    static let last = "later"

    package let name: String
    /// The first moment behind it; nil: there is none.
    package let end: Timestamp?

    /// In an `ALTER TABLE`.
    static func definition(of month: Month) -> String {
        "PARTITION \(name(of: month)) VALUES LESS THAN ('\(month + 1)-01')"
    }

    static func name(of month: Month) -> String { "p" + month.description.filter { $0 != "-" } }
}
