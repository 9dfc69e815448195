import JSON
import MariaDB

/// JSON in SQL: columns of JSON text, and one parameter that holds any number of values.
extension Row {
    /// A column of JSON text; nil for NULL.
    mutating func readJSON() throws -> JSONValue? {
        try read(String?.self).map { try JSONValue(json: Array($0.utf8)) }
    }
}

/// Values as the text of a JSON array, for `JSON_TABLE`.
package func list(_ values: [some Encodable]) -> String { String(decoding: values.json(), as: UTF8.self) }
