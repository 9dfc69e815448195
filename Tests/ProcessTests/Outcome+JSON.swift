import JSON
import TestSupport
import Testing

extension ChildProcess.Outcome {
    /// Standard output, which is one line of JSON.
    func json() throws -> JSONValue { try object(output) }

    /// Standard error, which is one line of JSON.
    func errorJSON() throws -> JSONValue { try object(errorOutput) }

    private func object(_ text: String) throws -> JSONValue {
        #expect(text.hasSuffix("\n") && text.split(separator: "\n").count == 1, "one line, not: \(self)")
        return try JSONValue(json: Array(text.utf8))
    }
}
