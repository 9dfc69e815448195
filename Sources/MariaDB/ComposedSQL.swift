/// A statement that is composed at run time, for optional conditions. It consists only of literals: every value of a
/// request is an argument.
@usableFromInline
package struct ComposedSQL: Sendable {
    private(set) var text: String
    private(set) var arguments: Arguments

    package init(_ sql: StaticString, _ arguments: any Bindable...) {
        text = "\(sql)"
        self.arguments = arguments
    }

    package init(_ sql: StaticString, arguments: Arguments) {
        text = "\(sql)"
        self.arguments = arguments
    }

    package init(joining parts: [StaticString]) {
        text = parts.map { "\($0)" }.joined()
        arguments = []
    }

    /// `SELECT` what the lists of columns name, each a type's own, `FROM` the rest.
    package init(select columns: StaticString..., from rest: StaticString, _ arguments: any Bindable...) {
        text = "SELECT \(columns.map { "\($0)" }.joined(separator: ", ")) FROM \(rest)"
        self.arguments = arguments
    }

    /// The same statement with these arguments: for one that is composed once and runs often.
    package func with(_ arguments: any Bindable...) -> ComposedSQL { with(arguments: arguments) }

    package func with(arguments: Arguments) -> ComposedSQL {
        var sql = self
        sql.arguments = arguments
        return sql
    }

    package var isEmpty: Bool { text.isEmpty }

    package mutating func append(_ sql: StaticString, _ arguments: any Bindable...) {
        append(sql, arguments: arguments)
    }

    package mutating func append(_ sql: StaticString, arguments: Arguments) {
        text += "\(sql)"
        self.arguments += arguments
    }

    package mutating func append(_ other: ComposedSQL) {
        text += other.text
        arguments += other.arguments
    }

    /// `column IN (?, ?, …)`, with one placeholder for each value.
    ///
    /// - Parameter sql: everything up to the opening parenthesis: ` AND t.column IN `.
    package mutating func append(_ sql: StaticString, oneOf values: [any Bindable]) {
        precondition(!values.isEmpty, "SQL has no empty list")
        text += "\(sql)(\(repeatElement("?", count: values.count).joined(separator: ", ")))"
        arguments += values
    }
}
