/// A JSON text that was parsed, so that any number of values can be read from it.
package struct ParsedJSON {
    private let document: Document

    /// - Parameter isCompared: whether strings decide something, so that all of them have to be stream-safe.
    package init(_ json: [UInt8], isCompared: Bool = false) throws(JSONError) {
        document = try Document(json)
        if isCompared, let node = document.firstUnsafeString {
            throw .combiningMarks(path: pathText(document.path(to: node)))
        }
    }

    /// The text, read in place.
    package var root: ParsedValue { ParsedValue(0, of: document) }

    /// The text as a value, by the rules of `Decodable.init(json:)`.
    package func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws(JSONError) -> Value {
        do {
            return try ValueDecoder(document: document, node: 0).unwrap(type)
        } catch let error as JSONError {
            throw error
        } catch {
            throw JSONError(error)
        }
    }
}
