/// Which part of a team's data a read is asked for. Only live apps of live projects of the key's own team are ever looked
/// into (analytics §13).
package struct ReadScope: Sendable {
    var team: Team.ID?
    var project: Project.ID?
    var app: App.ID?
    /// Whether a filter names something that cannot be.
    private(set) var isEmpty = false

    /// - Parameters: as the request has them; nil: not restricted.
    package init(team: String? = nil, project: String? = nil, app: String? = nil) {
        self.team = parse(team)
        self.project = parse(project)
        self.app = parse(app)
    }

    /// A filter's value as an id. One that is no UUID names nothing, and so leaves nothing to show.
    mutating func parse<Entity>(_ text: String?) -> EntityID<Entity>? {
        guard let text else { return nil }
        let id = EntityID<Entity>(text)
        if id == nil { isEmpty = true }
        return id
    }

    func excludes(_ team: Team.ID) -> Bool { isEmpty || self.team.map { $0 != team } ?? false }
}

/// Whether a read shows what real people do, what developers do, or both (analytics §13).
package enum DataMode: String, Sendable, CaseIterable {
    case production, development, all

    /// What `is_dev` may be.
    var modes: [Bool] {
        switch self {
        case .production: [false]
        case .development: [true]
        case .all: [false, true]
        }
    }
}
