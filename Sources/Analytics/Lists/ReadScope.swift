/// The part of a team's data that a read asks for. A read never sees more than live apps of live projects of the key's
/// own team (analytics §13).
package struct ReadScope: Sendable {
    var team: Team.ID?
    var project: Project.ID?
    var app: App.ID?
    /// Whether a filter names something that cannot exist.
    private(set) var isEmpty = false

    /// - Parameters: the texts of the request; nil for no restriction.
    package init(team: String? = nil, project: String? = nil, app: String? = nil) {
        self.team = parse(team)
        self.project = parse(project)
        self.app = parse(app)
    }

    /// The id that a filter names. If the text is not a UUID, it names nothing, so the list is empty.
    mutating func parse<Entity>(_ text: String?) -> EntityID<Entity>? {
        guard let text else { return nil }
        let id = EntityID<Entity>(text)
        if id == nil { isEmpty = true }
        return id
    }

    func excludes(_ team: Team.ID) -> Bool { isEmpty || self.team.map { $0 != team } ?? false }
}

/// Whether a read shows production data, development data, or both (analytics §13).
package enum DataMode: String, Sendable, CaseIterable {
    case production, development, all

    /// The values of `is_dev` to show.
    var modes: [Bool] {
        switch self {
        case .production: [false]
        case .development: [true]
        case .all: [false, true]
        }
    }
}
