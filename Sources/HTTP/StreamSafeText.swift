extension StringProtocol {
    /// Whether no more than 30 combining marks stand in a row (UAX #15 §13, Stream-Safe Text Format), as in any text of people.
    ///
    /// Swift brings a row into its canonical order before it compares or hashes a string, in time that grows with the square.
    package var isStreamSafe: Bool {
        if utf8.allSatisfy({ $0 < 0x80 }) { return true }
        var marks = 0
        return unicodeScalars.allSatisfy { scalar in
            marks = scalar.properties.canonicalCombiningClass == .notReordered ? 0 : marks + 1
            return marks <= mostMarks
        }
    }
}

extension [UInt8] {
    /// The same of JSON text, in which marks may be escaped.
    package var isStreamSafeJSON: Bool {
        let backslash = UInt8(ascii: "\\")
        guard contains(backslash) else { return String(decoding: self, as: UTF8.self).isStreamSafe }
        var text: [UInt8] = []
        text.reserveCapacity(count)
        var from = startIndex
        while from < endIndex {
            if self[from] == backslash, from + 5 < endIndex, self[from + 1] == UInt8(ascii: "u"),
                let value = UInt32(String(decoding: self[from + 2...from + 5], as: UTF8.self), radix: 16),
                let scalar = Unicode.Scalar(value)
            {
                text += String(scalar).utf8
                from += 6
            } else {
                text.append(self[from])
                from += 1
            }
        }
        return String(decoding: text, as: UTF8.self).isStreamSafe
    }
}

private let mostMarks = 30
