/// One environment variable: what the programs read, check and print in their reference.
package struct Variable: Sendable {
    package enum Default: Sendable {
        /// There is none: the variable must be set.
        case required
        /// There is none: what the variable is for is left out.
        case none
        /// The text read in the variable's place.
        case text(String)
        /// Depends on the machine or on another variable, in the words given.
        case computed(String)
    }

    package let name: String
    /// The form of its values, in a word or two.
    package let form: String
    package let preset: Default
    /// Whether `NAME_FILE` may name a file that holds the value, and no message may show it.
    package let isSecret: Bool
    /// Whether the empty value is one of its values, and not the same as none.
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
