extension RawRepresentable where Self: CaseIterable, RawValue == String {
    /// The case of exactly these bytes. `init(rawValue:)` compares by canonical equivalence, whose cost is the square of the
    /// length for a text of combining marks.
    init?(bytes text: String) {
        guard let value = Self.allCases.first(where: { $0.rawValue.utf8.elementsEqual(text.utf8) }) else { return nil }
        self = value
    }
}
