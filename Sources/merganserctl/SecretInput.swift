import Files

/// A secret that deployed clients already have, from standard input: it does not stay in the shell's history.
enum SecretInput {
    /// Without the newline at its end.
    static func read() throws -> String {
        guard let secret = String(validating: try StandardInput.readToEnd(), as: UTF8.self) else {
            throw ToolError(.refused, "the secret on standard input is not UTF-8")
        }
        return secret.hasSuffix("\r\n") || secret.hasSuffix("\n") ? String(secret.dropLast()) : secret
    }
}
