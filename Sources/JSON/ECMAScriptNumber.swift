/// A finite number as ECMAScript's `Number::toString` writes it (RFC 8785 §3.2.2.3): the shortest digits that read back
/// as the same double, without an exponent from 1e-6 up to below 1e21.
func ecmaScript(_ value: Double) -> String {
    if value == 0 { return "0" }
    if let integer = Int64(exactly: value), integer.magnitude <= 1 << 53 { return String(integer) }

    // Swift's description has the same shortest digits: `-1234.5`, `5e-324`, `1.5e+16`.
    let text = value.magnitude.description
    let exponentMark = text.firstIndex(of: "e") ?? text.endIndex
    let exponent = Int(text[exponentMark...].dropFirst()) ?? 0
    let mantissa = text[..<exponentMark]
    let integerDigits = mantissa.prefix { $0 != "." }
    let allDigits = integerDigits + mantissa.dropFirst(integerDigits.count + 1)
    var digits = allDigits.drop { $0 == "0" }
    // The value is 0.DIGITS × 10^point.
    let point = integerDigits.count - (allDigits.count - digits.count) + exponent
    while digits.last == "0" { digits.removeLast() }

    let sign = value < 0 ? "-" : ""
    if point > 0, point <= 21 {
        if digits.count <= point { return sign + digits + zeros(point - digits.count) }
        return sign + digits.prefix(point) + "." + digits.dropFirst(point)
    }
    if point > -6, point <= 0 { return sign + "0." + zeros(-point) + digits }
    let fraction = digits.count > 1 ? "." + digits.dropFirst() : ""
    return sign + digits.prefix(1) + fraction + "e" + (point > 0 ? "+" : "-") + String((point - 1).magnitude)
}

private func zeros(_ count: Int) -> String { String(repeating: "0", count: count) }
