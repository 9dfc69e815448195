import Logging
import Time

struct LogLine: Encodable {
    var time: Timestamp
    var level: Logger.Level
    var message: String
    var metadata: Logger.Metadata

    func encode(to encoder: any Encoder) throws {
        var line = encoder.container(keyedBy: Key.self)
        try line.encode(time.iso8601Milliseconds, forKey: Key("time"))
        try line.encode(level.rawValue, forKey: Key("level"))
        try line.encode(message, forKey: Key("message"))
        for (name, value) in metadata.sorted(by: { $0.key < $1.key }) where !Self.ownNames.contains(name) {
            try line.encode(Field(name: name, value: value), forKey: Key(name))
        }
    }

    private static let ownNames: Set<String> = ["time", "level", "message"]

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(_ name: String) { stringValue = name }
        init?(stringValue: String) { self.init(stringValue) }
        init?(intValue: Int) { nil }
    }

    /// One value of the metadata. It is withheld if its name, or the name of a dictionary around it, indicates a
    /// secret.
    private struct Field: Encodable {
        let name: String
        let value: Logger.MetadataValue

        func encode(to encoder: any Encoder) throws {
            if speaksOfSecret(name) {
                var single = encoder.singleValueContainer()
                return try single.encode("[withheld]")
            }
            switch value {
            case .string(let text):
                var single = encoder.singleValueContainer()
                try single.encode(text)
            case .stringConvertible(let number as Int):
                var single = encoder.singleValueContainer()
                try single.encode(number)
            case .stringConvertible(let value):
                var single = encoder.singleValueContainer()
                try single.encode(value.description)
            case .array(let values):
                var list = encoder.unkeyedContainer()
                for value in values { try list.encode(Field(name: name, value: value)) }
            case .dictionary(let values):
                var object = encoder.container(keyedBy: Key.self)
                for (name, value) in values.sorted(by: { $0.key < $1.key }) {
                    try object.encode(Field(name: name, value: value), forKey: Key(name))
                }
            }
        }
    }
}

private func speaksOfSecret(_ name: String) -> Bool {
    let name = name.lowercased()
    return ["authorization", "cookie", "nonce", "password", "private_key", "secret", "server_key", "ticket", "token"]
        .contains { name.contains($0) }
}
