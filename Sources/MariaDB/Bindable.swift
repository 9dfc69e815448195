public import Time

/// A value in the form of the binary protocol.
@usableFromInline
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

/// A type whose values can be arguments of a statement. An optional that is nil means NULL, and so does `Parameter.null`.
///
/// A type with a bindable raw value only needs to declare the conformance: `struct ID: RawRepresentable, Bindable { …
/// }`.
@usableFromInline
package protocol Bindable: Sendable {
    var parameter: Parameter { get }
}

/// The arguments of one execution, in the order of their placeholders. They are not `(any Bindable)?`, which is copied
/// whenever it is looked at.
@usableFromInline
package typealias Arguments = [any Bindable]

extension Parameter: Bindable {
    @usableFromInline package var parameter: Parameter { self }
}

extension Bindable where Self: RawRepresentable, RawValue: Bindable {
    @inlinable package var parameter: Parameter { rawValue.parameter }
}

extension Int: Bindable {
    @usableFromInline package var parameter: Parameter { .signed(Int64(self)) }
}

extension Int64: Bindable {
    @usableFromInline package var parameter: Parameter { .signed(self) }
}

extension UInt64: Bindable {
    @usableFromInline package var parameter: Parameter { .unsigned(self) }
}

extension Bool: Bindable {
    @usableFromInline package var parameter: Parameter { .signed(self ? 1 : 0) }
}

extension Double: Bindable {
    @usableFromInline package var parameter: Parameter { .double(self) }
}

extension String: Bindable {
    @usableFromInline package var parameter: Parameter { .text(self) }
}

extension [UInt8]: Bindable {
    @usableFromInline package var parameter: Parameter { .bytes(self) }
}

extension Timestamp: Bindable {
    @usableFromInline package var parameter: Parameter { .time(self) }
}

extension Optional: Bindable where Wrapped: Bindable {
    @inlinable package var parameter: Parameter { self?.parameter ?? .null }
}
