import ArgumentParser

/// The value of an option that `none` clears.
struct Setting<Value: ExpressibleByArgument>: ExpressibleByArgument {
    let value: Value?

    init?(argument: String) {
        if argument == "none" {
            value = nil
        } else {
            guard let value = Value(argument: argument) else { return nil }
            self.value = value
        }
    }
}
