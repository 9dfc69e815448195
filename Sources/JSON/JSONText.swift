/// Any JSON value, kept as its text: for what is read only to be written again.
package struct JSONText: Sendable {
    /// The text as it stood, its spaces included.
    let utf8: ArraySlice<UInt8>

    init(_ utf8: ArraySlice<UInt8>) { self.utf8 = utf8 }

    package init(_ value: JSONValue) { utf8 = value.json()[...] }

    package var value: JSONValue {
        do {
            return try JSONValue(json: Array(utf8))
        } catch {
            preconditionFailure("the text was one value's: \(error)")
        }
    }
}

extension JSONText: Codable {
    package init(from decoder: any Decoder) throws {
        guard let decoder = decoder as? ValueDecoder else {
            self.init(try JSONValue(from: decoder))
            return
        }
        self = decoder.document.json(decoder.node)
    }

    /// For encoders of others; ours copies the text.
    package func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}

extension JSONText: DecodableFromNull {}
