internal import Text

/// Header fields in the order in which they came. Names are in lower case with dashes, as in HTTP/2.
package struct Headers: Sendable {
    package private(set) var fields: [HeaderField] = []

    package init(_ fields: [(name: String, value: String)] = []) {
        self.init(capacity: fields.count)
        for field in fields { append(field.name, field.value) }
    }

    /// For so many fields.
    package init(capacity: Int) { fields.reserveCapacity(capacity) }

    /// A value that is not stream-safe is replaced by an empty one: no field is free text, and comparing such a value
    /// would take long.
    ///
    /// - Parameter name: in lower case.
    package mutating func append(_ name: String, _ value: String) {
        fields.append(HeaderField(name, value.isStreamSafe ? value : ""))
    }

    /// The first field of that name: nginx before 1.23 passes a repeated header on as a second parameter.
    /// - Parameter name: in lower case.
    package func first(_ name: String) -> String? { fields.first { $0.name == name }?.value }

    /// How many fields have that name.
    package func count(of name: String) -> Int { fields.count { $0.name == name } }
}
