internal import Text
package import Time

/// Which events a read shows (analytics §13.1).
package struct EventFilter: Sendable {
    package var scope: ReadScope
    var levels: Set<NewEvent.Level> = []
    package var user: EndUserID?
    private(set) var session: UUID?
    package var environment: String?
    package var screenName: String?
    /// Inclusive.
    package var since: Timestamp?
    package var until: Timestamp?
    package var dataMode = DataMode.production

    package init(_ scope: ReadScope) { self.scope = scope }

    /// - Parameter list: levels separated by commas. An empty list means all levels.
    package mutating func setLevels(_ list: String) throws(Refusal) {
        let names = list.commaSeparated
        levels = Set(names.compactMap(NewEvent.Level.init(bytes:)))
        let unknown = names.filter { NewEvent.Level(bytes: $0) == nil }
        guard unknown.isEmpty else {
            throw .invalid(
                "Unknown log level(s): \(unknown.joined(separator: ", ")). Allowed: "
                    + NewEvent.Level.allCases.map(\.rawValue).joined(separator: ", "))
        }
    }

    package mutating func setSession(_ id: String) {
        let id: EntityID<Session>? = scope.parse(id)
        session = id?.rawValue
    }

    private enum Session {}
}

extension String {
    /// The parts between commas, trimmed, without empty parts.
    var commaSeparated: [String] {
        utf8.split(separator: UInt8(ascii: ",")).map { String(Substring($0)).trimmed }.filter { !$0.isEmpty }
    }
}
