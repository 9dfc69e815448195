/// An operator's command that cannot be carried out. The text says what to do instead.
package struct RefusedOperation: Error, Equatable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
