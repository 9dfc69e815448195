import Accounts
import HTTP
import JSON

private struct PushTokenRequest: Decodable {
    var token: String?
    var environment: String?
}

/// `PUT /api/v1/me/push_token` (accounts §4.2): where the calling device takes notifications; 204.
@Sendable func registerPushToken(_ call: Call, _ caller: Caller) throws -> Response {
    let body = try call.decode(PushTokenRequest.self)
    guard let token = body.token.flatMap(DevicePushToken.checked),
        let environment = body.environment.flatMap(DevicePushToken.Environment.init(rawValue:))
    else { throw Failure.invalidRequest }
    return try call.commit { transaction in
        try call.accounts.registerPushToken(token, environment, of: caller, in: transaction)
        return Response(.noContent)
    }
}
