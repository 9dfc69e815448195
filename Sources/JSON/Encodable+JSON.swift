extension Encodable {
    /// UTF-8 JSON text: members in the order of their declaration, no spaces, nothing escaped that need not be. What is kept as text
    /// (`KeptJSON`) is written as it stood.
    ///
    /// A number that is not finite is written as `null`, as ECMAScript does. An absent optional is left out (`Nullable`
    /// writes `null`). Dictionaries are unordered, so their text is not stable; `canonicalJSON()` is.
    package func json() -> [UInt8] {
        let writer = Writer()
        do {
            try writer.write(self)
        } catch {
            preconditionFailure("\(Self.self) refuses to be written as JSON: \(error)")
        }
        return writer.finish()
    }

    /// The canonical text of RFC 8785: members sorted by the UTF-16 code units of their names, ECMAScript's numbers.
    ///
    /// As there, numbers are doubles: an integer beyond ±2^53 is rounded.
    package func canonicalJSON() -> [UInt8] {
        do {
            return try Document(json()).canonical()
        } catch {
            preconditionFailure("\(Self.self) was not written as JSON: \(error)")
        }
    }
}
