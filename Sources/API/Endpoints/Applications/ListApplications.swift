import HTTP
import JSON

/// `GET /api/v1/applications` (accounts §2.1): the developer's own applications, oldest first.
@Sendable func listApplications(_ call: Call, _ developer: Developer) throws -> Response {
    let applications = try call.database.read { try $0.registeredApplications(of: developer.caller.id) }
    return .json(.ok, ["applications": applications.map(ApplicationReply.init)])
}
