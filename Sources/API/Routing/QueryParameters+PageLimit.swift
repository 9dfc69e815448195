import Accounts
package import HTTP

extension QueryParameters {
    /// `limit` of a list (accounts §3.4, §3.6, §4.3); nil if absent. More than the largest counts as the largest.
    ///
    /// - Throws: `invalidRequest` for what is no number, or less than one.
    package func pageLimit(atMost largest: Int = EventPoll.largestLimit) throws -> Int? {
        guard let text = self["limit"] else { return nil }
        let digits = text.utf8.drop { $0 == UInt8(ascii: "0") }
        guard !digits.isEmpty, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            throw Failure.invalidRequest
        }
        return min(Int(String(digits) ?? "") ?? largest, largest)
    }
}
