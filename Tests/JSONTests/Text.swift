import JSON

func text(_ value: some Encodable) -> String { String(decoding: value.json(), as: UTF8.self) }

extension Decodable {
    init(text: String) throws(JSONError) { try self.init(json: Array(text.utf8)) }
}
