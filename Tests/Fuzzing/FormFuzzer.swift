import HTTP

extension Fuzzer {
    /// Any bytes as a query string or form, and any text as a Cookie header and as a file name. A second, simpler
    /// reader must find the same.
    static let form = Fuzzer(name: "form", maximumSize: 4096) { input in
        try checkParameters(input)
        try checkCookies(input)
        try checkFilename(input.text)
    }

    // MARK: Parameters

    private static func checkParameters(_ query: [UInt8]) throws {
        let parameters = QueryParameters(query)
        var expected: [(name: String, encoded: [UInt8])] = []
        for pair in query.split(separator: UInt8(ascii: "&")) {
            let name = pair.prefix { $0 != UInt8(ascii: "=") }
            expected.append((decoded(Array(name)), Array(pair.dropFirst(name.count + 1))))
        }
        for (name, _) in expected {
            let values = expected.filter { $0.name.isIdentical(to: name) }.map(\.encoded)
            let all = parameters.all(name)
            try require(all.count == values.count, "every value of a name is found")
            for (value, expected) in zip(all, values) {
                try require(value.isIdentical(to: decoded(expected)), "a value is decoded as the plain reader does")
            }
            try require(parameters[name].map { $0.isIdentical(to: all[0]) } == true, "the first of a name counts")
            try require(
                parameters.encoded(name).map { $0.isIdentical(to: values[0].text) } == true, "values are kept as sent")
        }

        // Written again in full, the same is read.
        let written = expected.map { "\(escaped($0.name))=\(escaped(decoded($0.encoded)))" }.joined(separator: "&")
        let again = QueryParameters(written)
        for (name, _) in expected {
            let values = again.all(name)
            try require(
                values.count == parameters.all(name).count
                    && zip(values, parameters.all(name)).allSatisfy { $0.isIdentical(to: $1) },
                "what is escaped comes back")
        }
    }

    private static func decoded(_ bytes: [UInt8]) -> String {
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                let high = Character(UnicodeScalar(bytes[index + 1])).hexDigitValue,
                let low = Character(UnicodeScalar(bytes[index + 2])).hexDigitValue
            {
                result.append(UInt8(high * 16 + low))
                index += 3
            } else {
                result.append(bytes[index] == UInt8(ascii: "+") ? 0x20 : bytes[index])
                index += 1
            }
        }
        return result.text
    }

    private static func escaped(_ text: String) -> String {
        text.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    // MARK: Cookies

    /// The first line is the name.
    private static func checkCookies(_ input: [UInt8]) throws {
        guard let name = input.lines.first, !name.isEmpty, name.allSatisfy(isTokenCharacter) else { return }
        let header = input.dropFirst(name.count + 1).text
        var expected: String?
        for pair in Array(header.utf8).split(separator: UInt8(ascii: ";")) {
            let pair = pair.drop { $0 == 0x20 }
            if pair.starts(with: name + [UInt8(ascii: "=")]) {
                expected = pair.dropFirst(name.count + 1).text
                break
            }
        }
        let found = Headers([("cookie", header)]).cookie(name.text)
        try require(
            found.map { Array($0.utf8) } == expected.map { Array($0.utf8) },
            "a cookie is found as the plain reader does")
    }

    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        byte < 0x80 && Character(UnicodeScalar(byte)).isLetter || byte == UInt8(ascii: "_")
    }

    // MARK: File names

    private static func checkFilename(_ name: String) throws {
        let value = Array(HeaderField.attachment(filename: name).value.utf8)
        try require(value.allSatisfy { (0x20...0x7E).contains($0) }, "a header has printable ASCII alone")
        let quotes = value.indices.filter { value[$0] == UInt8(ascii: "\"") }
        try require(quotes.count == 2 && !value.contains(UInt8(ascii: "\\")), "nothing ends the quoted name early")
        let rest = Array(value[(quotes[1] + 1)...])
        let prefix = Array("; filename*=UTF-8''".utf8)
        try require(rest.starts(with: prefix), "the whole name follows")
        let whole = rest.dropFirst(prefix.count)
        try require(!whole.contains { " ;,'\"".utf8.contains($0) }, "the whole name has no separator in it")
        try require(
            decoded(whole.flatMap { $0 == UInt8(ascii: "+") ? Array("%2B".utf8) : [$0] }).isIdentical(to: name),
            "the whole name comes back")
    }
}
