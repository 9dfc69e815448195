extension Headers {
    /// The value of a cookie as it was sent (RFC 6265 §4.2). If several have the name, the first one counts.
    package func cookie(_ name: String) -> String? {
        let start = Array("\(name)=".utf8)
        for field in fields where field.name == "cookie" {
            // Compare bytes, because a `;` or `=` before a combining mark is not a character of its own.
            for pair in field.value.utf8.split(separator: UInt8(ascii: ";")) {
                let pair = pair.drop { $0 == UInt8(ascii: " ") }
                if pair.starts(with: start) { return String(Substring(pair.dropFirst(start.count))) }
            }
        }
        return nil
    }
}
