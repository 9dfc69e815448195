package import Time

extension Timestamp {
    /// The time that `since` or `until` names: ISO 8601, or a span before now such as `30s`, `30m`, `1h`, `7d` and `1w`
    /// (analytics §13). All data is from after 1970, so an earlier time becomes 1970.
    package init(filter text: String, now: Timestamp) throws(Refusal) {
        if let time = Timestamp(iso8601: text) {
            self = time
            return
        }
        guard let unit = text.utf8.last.flatMap({ Self.secondsOfUnit[$0] }), let count = Self.count(text.dropLast())
        else {
            throw .invalid(
                "Invalid time input: \"\(text)\". Use relative (e.g. 1h, 30m, 7d) or ISO 8601 format.")
        }
        let (milliseconds, isBeyond) = count.multipliedReportingOverflow(by: unit * 1000)
        self.init(milliseconds: isBeyond ? 0 : max(0, now.milliseconds - milliseconds))
    }

    private static let secondsOfUnit: [UInt8: Int64] = [
        UInt8(ascii: "s"): 1, UInt8(ascii: "m"): 60, UInt8(ascii: "h"): 3600, UInt8(ascii: "d"): 86_400,
        UInt8(ascii: "w"): 604_800,
    ]

    /// Decimal digits only. A number beyond Int64 becomes the largest Int64.
    private static func count(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int64(text) ?? .max
    }
}
