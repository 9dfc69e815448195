import Analytics
import Time

struct TeamBody: Encodable {
    let id: Team.ID
    let name: String
    let createdAt: String

    init(_ team: TeamSummary) {
        id = team.id
        name = team.name
        createdAt = team.createdAt.iso8601Milliseconds
    }
}
