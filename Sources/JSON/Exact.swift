/// A value that decides something: an escaped lone surrogate in it is refused. Elsewhere one reads as U+FFFD, and two texts
/// that are not the same would be one.
@propertyWrapper package struct Exact<Value: Decodable>: Decodable {
    package var wrappedValue: Value

    /// - Throws: `JSONError.loneSurrogate`.
    package init(from decoder: any Decoder) throws {
        guard let decoder = decoder as? ValueDecoder else {
            wrappedValue = try Value(from: decoder)
            return
        }
        if decoder.document.hasLoneSurrogate(in: decoder.node) {
            throw JSONError.loneSurrogate(path: pathText(decoder.codingPath))
        }
        wrappedValue = try decoder.unwrap(Value.self)
    }
}

extension Exact where Value: ExpressibleByNilLiteral {
    private init() { wrappedValue = nil }

    static var absent: Exact { Exact() }
}

extension Exact: DecodableWhenAbsent, DecodableFromNull where Value: ExpressibleByNilLiteral {}
extension Exact: Sendable where Value: Sendable {}
