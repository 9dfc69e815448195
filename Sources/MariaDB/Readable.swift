public import Time

/// A type that a column can be read as. Only `Optional` accepts NULL.
///
/// A type with a readable raw value only needs to declare the conformance; an unknown raw value is an error.
@usableFromInline
package protocol Readable {
    init(_ column: borrowing Column) throws(MariaDBError)
}

extension Readable where Self: RawRepresentable, RawValue: Readable {
    @inlinable
    package init(_ column: borrowing Column) throws(MariaDBError) {
        guard let value = Self(rawValue: try RawValue(column)) else {
            throw column.error("has a value that is not a \(Self.self)")
        }
        self = value
    }
}

extension Int: Readable {
    @usableFromInline
    package init(_ column: borrowing Column) throws(MariaDBError) { self = Int(try column.signed()) }
}

extension Int64: Readable {
    @usableFromInline
    package init(_ column: borrowing Column) throws(MariaDBError) { self = try column.signed() }
}

extension UInt64: Readable {
    @usableFromInline
    package init(_ column: borrowing Column) throws(MariaDBError) { self = try column.unsigned() }
}

extension Bool: Readable {
    @usableFromInline
    package init(_ column: borrowing Column) throws(MariaDBError) {
        switch try column.signed() {
        case 0: self = false
        case 1: self = true
        default: throw column.error("is neither 0 nor 1, so it is not a Bool")
        }
    }
}

extension Double: Readable {
    @usableFromInline
    package init(_ column: borrowing Column) throws(MariaDBError) { self = try column.double() }
}

extension String: Readable {
    @usableFromInline
    package init(_ column: borrowing Column) throws(MariaDBError) { self = try column.text() }
}

extension [UInt8]: Readable {
    @usableFromInline
    package init(_ column: borrowing Column) throws(MariaDBError) { self = try column.bytes() }
}

extension Timestamp: Readable {
    @usableFromInline
    package init(_ column: borrowing Column) throws(MariaDBError) { self = try column.timestamp() }
}

extension Optional: Readable where Wrapped: Readable {
    @inlinable
    package init(_ column: borrowing Column) throws(MariaDBError) { self = column.isNull ? nil : try Wrapped(column) }
}
