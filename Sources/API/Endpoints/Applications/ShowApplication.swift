import HTTP

/// `GET /api/v1/applications/{client_id}` (accounts §2.1).
@Sendable func showApplication(_ call: Call, _ developer: Developer) throws -> Response {
    let application = try call.database.read {
        try call.accounts.application(call.arguments[0], of: developer.caller, $0)
    }
    return .json(.ok, ApplicationReply(application))
}
