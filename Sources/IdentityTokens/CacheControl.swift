/// The `max-age` of a Cache-Control header (RFC 9111 §5.2.2.1); nil if there is none.
func maxAge(_ header: String) -> Duration? {
    for directive in header.lowercased().split(separator: ",") {
        let parts = directive.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, parts[0].trimmingSpaces == "max-age" else { continue }
        let digits = parts[1].trimmingSpaces.trimming { $0 == "\"" }
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        // RFC 9111 §1.2.2: a number that is too large counts as 2^31.
        return .seconds(Int64(digits) ?? 1 << 31)
    }
    return nil
}

extension Substring {
    fileprivate var trimmingSpaces: Substring { trimming { $0 == " " || $0 == "\t" } }

    fileprivate func trimming(_ isOutside: (Character) -> Bool) -> Substring {
        var text = drop(while: isOutside)
        while let last = text.last, isOutside(last) { text.removeLast() }
        return text
    }
}
