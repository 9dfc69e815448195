package import Time

/// A value in the form of the binary protocol.
package enum Parameter: Sendable {
    case null
    case signed(Int64)
    case unsigned(UInt64)
    case double(Double)
    /// Character data in utf8mb4.
    case text(String)
    /// Binary data, without a character set.
    case bytes([UInt8])
    /// A `BINARY(16)`: a UUID's halves, the most significant byte first.
    case uuid(high: UInt64, low: UInt64)
    /// A `DATETIME(3)` in UTC, years 1…9999.
    case time(Timestamp)
}

/// A type whose values can be arguments of a statement. `nil` means NULL.
///
/// A type with a bindable raw value only needs to declare the conformance: `struct ID: RawRepresentable, Bindable { …
/// }`.
package protocol Bindable: Sendable {
    var parameter: Parameter { get }
}

extension Bindable where Self: RawRepresentable, RawValue: Bindable {
    package var parameter: Parameter { rawValue.parameter }
}

extension Int: Bindable {
    package var parameter: Parameter { .signed(Int64(self)) }
}

extension Int64: Bindable {
    package var parameter: Parameter { .signed(self) }
}

extension UInt64: Bindable {
    package var parameter: Parameter { .unsigned(self) }
}

extension Bool: Bindable {
    package var parameter: Parameter { .signed(self ? 1 : 0) }
}

extension Double: Bindable {
    package var parameter: Parameter { .double(self) }
}

extension String: Bindable {
    package var parameter: Parameter { .text(self) }
}

extension [UInt8]: Bindable {
    package var parameter: Parameter { .bytes(self) }
}

extension Timestamp: Bindable {
    package var parameter: Parameter { .time(self) }
}

extension Optional: Bindable where Wrapped: Bindable {
    package var parameter: Parameter { self?.parameter ?? .null }
}
