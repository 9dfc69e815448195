/// Why an operator's command is refused. The text says what to do instead.
package struct OperatorError: Error, Equatable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }

    /// - Parameter what: the thing that has the name: "the team".
    static func check(name: String, of what: String) throws(OperatorError) {
        guard (1...200).contains(name.unicodeScalars.count), !name.hasControlCharacters else {
            throw OperatorError("\(what)'s name must have 1 to 200 characters and no control characters")
        }
    }
}

extension String {
    var hasControlCharacters: Bool { unicodeScalars.contains { $0.properties.generalCategory == .control } }
}
