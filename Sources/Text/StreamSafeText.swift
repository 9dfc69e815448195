// This target owns what bytes and text are, whoever reads them: how they are filled, searched and copied, hexadecimal, base64,
// prefixes by what a limit counts, and what comparing text costs and means. Swift's `==`, `switch`, hashes and prefixes take canonically
// equivalent strings for equal, and bring a row of combining marks into its canonical order first, in time that grows with
// the square of the row. So whatever comes from outside and decides something is compared by bytes, or is stream-safe.

extension String {
    /// Whether no more than 30 combining marks stand in a row (UAX #15 §13, Stream-Safe Text Format), as in any text of people.
    package var isStreamSafe: Bool {
        // Eight bytes at a time, because every header field of every request passes here.
        var bytes = utf8Span
        if bytes.checkForASCII() { return true }
        var marks = 0
        return unicodeScalars.allSatisfy { scalar in
            marks = scalar.properties.canonicalCombiningClass == .notReordered ? 0 : marks + 1
            return marks <= mostMarks
        }
    }
}

private let mostMarks = 30
