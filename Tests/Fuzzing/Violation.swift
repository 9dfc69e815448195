/// A rule that an input broke.
struct Violation: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

func require(_ holds: Bool, _ rule: @autoclosure () -> String) throws(Violation) {
    if !holds { throw Violation(rule()) }
}
