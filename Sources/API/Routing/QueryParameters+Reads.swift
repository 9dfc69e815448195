import Analytics
import HTTP
import Text
import Time

/// The query parameters that the reads of analytics §13 share.
extension QueryParameters {
    var scope: ReadScope { ReadScope(team: self["team_id"], project: self["project_id"], app: self["app_id"]) }
    var limit: PageLimit { PageLimit(self["limit"]) }
    /// Nil if absent or unknown.
    var dataMode: DataMode? { self["data_mode"].flatMap(DataMode.init(bytes:)) }

    func cursor<ID>(of type: ID.Type = ID.self) -> Cursor<ID>? { self["cursor"].flatMap(Cursor.init) }

    func time(_ name: String, now: Timestamp) throws(Refusal) -> Timestamp? {
        guard let text = self[name] else { return nil }
        return try Timestamp(filter: text, now: now)
    }

    /// `true` or `false`; nil for anything else.
    func bool(_ name: String) -> Bool? {
        switch comparable(name) {
        case "true": true
        case "false": false
        default: nil
        }
    }
}
