/// How many rows a page has at most: 1 to 200 (analytics §13).
package struct PageLimit: Sendable {
    package let rawValue: Int

    /// - Parameter text: as the query string has it; what is no integer counts as 50.
    package init(_ text: String?) {
        guard let text, let number = Self.integer(text) else {
            rawValue = 50
            return
        }
        rawValue = min(max(number, 1), 200)
    }

    /// What shows whether there is another page.
    package var oneMore: Int { rawValue + 1 }

    /// Any number of decimal digits, with or without a sign; beyond Int it is the nearest one.
    private static func integer(_ text: String) -> Int? {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int(text) ?? (digits.count < text.count ? .min : .max)
    }
}
