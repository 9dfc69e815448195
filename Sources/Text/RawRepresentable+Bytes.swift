extension RawRepresentable where Self: CaseIterable, RawValue == String {
    /// The case of exactly these bytes, at a cost that grows with the length alone. `init(rawValue:)` compares by canonical
    /// equivalence.
    @inlinable @inline(__always)
    package init?(bytes text: String) {
        guard let value = Self.allCases.first(where: { $0.rawValue.hasSameBytes(as: text) }) else { return nil }
        self = value
    }
}
