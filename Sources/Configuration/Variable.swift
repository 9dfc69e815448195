/// One environment variable: what the programs read, check and print in their reference.
package struct Variable: Sendable {
    package enum Default: Sendable {
        /// There is none: the variable must be set.
        case required
        /// There is none: without the variable, the feature is off.
        case none
        /// The text that is read if the variable is not set.
        case text(String)
        /// Depends on the machine or on another variable; the text describes how.
        case computed(String)
    }

    package let name: String
    /// The form of its values, in a word or two.
    package let form: String
    package let preset: Default
    /// Whether `NAME_FILE` may name a file that holds the value. If so, no message may show the value.
    package let isSecret: Bool
    /// Whether an empty value is a value of its own, and does not mean that the variable is not set.
    package let isEmptyValue: Bool
    package let help: String

    init(
        _ name: String, _ form: String, _ preset: Default, _ help: String, isSecret: Bool = false,
        isEmptyValue: Bool = false
    ) {
        self.name = name
        self.form = form
        self.preset = preset
        self.help = help
        self.isSecret = isSecret
        self.isEmptyValue = isEmptyValue
    }
}
