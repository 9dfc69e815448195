import AccountReplies
import Accounts
import Database
import HTTP
import JSON

/// `PATCH /api/v1/applications/{client_id}` (accounts §2.1). The answer shows which changes wait for the operator.
@Sendable func updateApplication(_ call: Call, _ developer: Developer) throws -> Response {
    let clientID = call.arguments[0]
    // Another developer's application is answered like an unknown one, whatever the request asks for.
    _ = try call.database.read { try call.accounts.application(clientID, of: developer.caller, $0) }
    let members = try call.decodeApplication()
    if members.clientType != .absent { throw Failure.clientTypeImmutable }
    let changes = try call.approve(try members.changes)
    return try call.commit { transaction in
        .json(
            .ok,
            ApplicationReply(
                try call.accounts.updateApplication(clientID, changes, by: developer.caller, in: transaction)))
    }
}
