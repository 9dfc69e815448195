import JSON
import MariaDB

extension Row {
    /// A column of JSON text; nil for NULL.
    mutating func readJSON() throws -> JSONValue? {
        try read(String?.self).map { try JSONValue(json: Array($0.utf8)) }
    }
}
