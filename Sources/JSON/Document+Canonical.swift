extension Document {
    /// The document in the form of RFC 8785.
    func canonical() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(self.bytes.count)
        appendCanonical(0, to: &bytes)
        return bytes
    }

    private func appendCanonical(_ node: Int, to result: inout [UInt8]) {
        switch kind(node) {
        case .null: result += "null".utf8
        case .false: result += "false".utf8
        case .true: result += "true".utf8
        case .integer, .fraction: result += ecmaScript(double(node) ?? .nan).utf8
        case .string, .escapedString: appendQuoted(utf8(node).span, to: &result)
        case .array:
            result.append(UInt8(ascii: "["))
            for (index, element) in elements(node).enumerated() {
                if index > 0 { result.append(UInt8(ascii: ",")) }
                appendCanonical(element, to: &result)
            }
            result.append(UInt8(ascii: "]"))
        case .object:
            let members = members(node).map { (name: Array((string($0) ?? "").utf16), node: $0) }
                .sorted { $0.name.lexicographicallyPrecedes($1.name) }
            result.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { result.append(UInt8(ascii: ",")) }
                appendQuoted(utf8(member.node).span, to: &result)
                result.append(UInt8(ascii: ":"))
                appendCanonical(member.node + 1, to: &result)
            }
            result.append(UInt8(ascii: "}"))
        }
    }
}
