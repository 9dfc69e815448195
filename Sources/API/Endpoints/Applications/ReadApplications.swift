import AccountReplies
import Accounts
import Database
import HTTP
import JSON

/// `GET /api/v1/applications` (accounts §2.1): the developer's own applications, oldest first.
@Sendable func listApplications(_ call: Call, _ developer: Developer) throws -> Response {
    let applications = try call.database.read { try $0.registeredApplications(of: developer.caller.id) }
    return .json(.ok, ["applications": applications.map(ApplicationReply.init)])
}

/// `GET /api/v1/applications/{client_id}` (accounts §2.1).
@Sendable func showApplication(_ call: Call, _ developer: Developer) throws -> Response {
    let application = try call.database.read {
        try call.accounts.application(call.arguments[0], of: developer.caller, $0)
    }
    return .json(.ok, ApplicationReply(application))
}
