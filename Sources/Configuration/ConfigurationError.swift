/// All problems of the environment, in the order of the variables' table.
package struct ConfigurationError: Error, Equatable, CustomStringConvertible {
    package struct Problem: Equatable, Sendable, CustomStringConvertible {
        /// The variable to change.
        package let variable: String
        /// What is wrong with its value, and what to set. Never has the value of a secret.
        package let message: String

        package var description: String { "\(variable): \(message)" }
    }

    package let problems: [Problem]

    /// One line for each problem.
    package var description: String { problems.map(\.description).joined(separator: "\n") }
}
