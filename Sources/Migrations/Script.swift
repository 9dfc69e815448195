/// Divides an SQL file into statements.
///
/// A statement ends with a `;` that is the last character of its line, except in quotes and comments. The body of a
/// trigger goes from a line that is just `BEGIN` to a line that is just `END;`, both without indentation. A `;` within
/// it does not end the statement. A compound statement is such a body by itself, and its line is `BEGIN NOT ATOMIC`.
enum Script {
    static func statements(of sql: String) -> [String] {
        var statements: [String] = []
        var statement: [UInt8] = []
        var isInBody = false
        var lexer = Lexer()
        for line in sql.utf8.split(separator: newline, omittingEmptySubsequences: false) {
            let isBetweenTokens = lexer.state == .code
            let code = lexer.read(line)
            // Comments before a statement are about the file, not part of the statement.
            if statement.isEmpty, code == .nothing { continue }
            statement += line
            statement.append(newline)
            if isBetweenTokens, ["BEGIN", "BEGIN NOT ATOMIC"].contains(where: { line.elementsEqual($0.utf8) }) {
                isInBody = true
            }
            if isBetweenTokens, line.elementsEqual("END;".utf8) { isInBody = false }
            if code == .end, !isInBody {
                statements.append(text(statement))
                statement = []
            }
        }
        if !statement.isEmpty { statements.append(text(statement)) }
        return statements
    }

    private static let newline = UInt8(ascii: "\n")

    private static func text(_ statement: [UInt8]) -> String {
        let blank = [newline, UInt8(ascii: "\r"), UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: ";")]
        let end = statement.lastIndex { !blank.contains($0) } ?? 0
        return String(decoding: statement[...end], as: UTF8.self)
    }
}

extension Script {
    /// Reads SQL line by line, only to distinguish code from quotes and comments.
    private struct Lexer {
        enum State { case code, singleQuoted, doubleQuoted, backquoted, comment }
        enum Line {
            /// A line that is blank or has only comments.
            case nothing
            case code
            /// A line of code whose last character is `;`.
            case end
        }

        private(set) var state = State.code

        mutating func read(_ line: Substring.UTF8View) -> Line {
            var last: UInt8?
            var rest = line
            while let byte = rest.popFirst() {
                let next = rest.first
                switch (state, byte) {
                case (.code, UInt8(ascii: "#")): return content(last)
                case (.code, UInt8(ascii: "-"))
                where next == UInt8(ascii: "-") && (rest.dropFirst().first.map { $0 <= UInt8(ascii: " ") } ?? true):
                    return content(last)
                case (.code, UInt8(ascii: "/")) where next == UInt8(ascii: "*"):
                    rest.removeFirst()
                    state = .comment
                case (.comment, UInt8(ascii: "*")) where next == UInt8(ascii: "/"):
                    rest.removeFirst()
                    state = .code
                case (.comment, _): break
                case (.singleQuoted, UInt8(ascii: "\\")), (.doubleQuoted, UInt8(ascii: "\\")): _ = rest.popFirst()
                // A doubled quote ends one string and begins another, which has the same effect.
                case (.code, UInt8(ascii: "'")): state = .singleQuoted
                case (.code, UInt8(ascii: "\"")): state = .doubleQuoted
                case (.code, UInt8(ascii: "`")): state = .backquoted
                case (.singleQuoted, UInt8(ascii: "'")), (.doubleQuoted, UInt8(ascii: "\"")),
                    (.backquoted, UInt8(ascii: "`")):
                    state = .code
                    last = byte
                case (.code, let byte) where byte > UInt8(ascii: " "): last = byte
                default: break
                }
                if state != .code && state != .comment { last = byte }
            }
            return state == .code || state == .comment ? content(last) : .code
        }

        private func content(_ last: UInt8?) -> Line {
            switch last {
            case nil: .nothing
            case UInt8(ascii: ";"): .end
            default: .code
            }
        }
    }
}
