// This target owns the step between JSON text (RFC 8259) and `Codable` values: limits on nesting, exact types, a fixed
// order of members on the way out, and the canonical form of RFC 8785. It also reads a text in place (`ParsedValue`). It
// does not own what any body means, nor limits on size: whoever reads the bytes has those. How text is parsed and written
// does not show outside.

extension Decodable {
    /// Reads UTF-8 JSON text: one value, nothing after it, no byte order mark, at most 64 levels of arrays and objects.
    ///
    /// - Unknown members are ignored; a member that is `null` counts as absent where the property is optional.
    /// - Names are compared byte for byte. Of members with the same name the last one counts (RFC 7515 §4).
    /// - Types are exact: `true` and `"5"` are no numbers. A number with an integral value is an integer however written.
    /// - An escaped lone surrogate (`"\ud83d"`) reads as U+FFFD, and is refused in what is `Exact`.
    package init(json: [UInt8]) throws(JSONError) {
        self = try ParsedJSON(json).decode()
    }
}
