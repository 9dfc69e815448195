/// What an operator asked for and cannot have; the text says what to do instead.
package struct RefusedOperation: Error, Equatable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
