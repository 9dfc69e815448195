import Foundation

/// Names of metrics, of `a-z`, `0-9` and hyphens; with any other the server keeps no metric (analytics §8.4).
enum MetricSlug {
    /// In lower case, a hyphen for each run of other characters, none at the ends; a name that fits stays as it is.
    static func of(_ name: String) -> String {
        if !name.isEmpty, name.utf8.allSatisfy(fits) { return name }
        let bytes = name.lowercased().unicodeScalars.map { scalar in
            scalar.isASCII && fits(UInt8(scalar.value)) ? Character(scalar) : "-"
        }
        return bytes.split(separator: "-").map { String($0) }.joined(separator: "-")
    }

    private static func fits(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
        default: false
        }
    }
}
