extension String {
    /// Without white space at either end.
    package var trimmed: String {
        var rest = Substring(self).unicodeScalars
        while let first = rest.first, first.properties.isWhitespace { rest.removeFirst() }
        while let last = rest.last, last.properties.isWhitespace { rest.removeLast() }
        return String(Substring(rest))
    }
}
