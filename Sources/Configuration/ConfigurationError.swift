/// Everything that is wrong with the environment, in the order of the variables' table.
package struct ConfigurationError: Error, Equatable, CustomStringConvertible {
    package struct Problem: Equatable, Sendable, CustomStringConvertible {
        /// The variable to change.
        package let variable: String
        /// What is wrong with it; what to set. Never the value of a secret.
        package let message: String

        package var description: String { "\(variable): \(message)" }
    }

    package let problems: [Problem]

    /// One problem a line.
    package var description: String { problems.map(\.description).joined(separator: "\n") }
}
