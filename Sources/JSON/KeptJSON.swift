/// Any JSON value, kept as its text: for what this server wrote, and reads only to write it again.
///
/// It is written as it stood. Text of others can have spaces, repeated names, and numbers beyond the range of doubles, so it does not
/// belong into one that is hashed.
package struct KeptJSON: Sendable {
    let utf8: ArraySlice<UInt8>

    init(_ utf8: ArraySlice<UInt8>) { self.utf8 = utf8 }

    package init(_ value: JSONValue) { utf8 = value.json()[...] }

    /// Reads the text anew each time.
    package func value() -> JSONValue {
        do {
            return try JSONValue(json: Array(utf8))
        } catch {
            preconditionFailure("the text was one value's: \(error)")
        }
    }
}

extension KeptJSON: Codable {
    package init(from decoder: any Decoder) throws {
        let decoder = try ValueDecoder(decoder)
        self = decoder.document.json(decoder.node)
    }

    /// For encoders of others; ours copies the text.
    package func encode(to encoder: any Encoder) throws { try value().encode(to: encoder) }
}

extension KeptJSON: DecodableFromNull {}
