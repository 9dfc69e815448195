import Accounts
import HTTP
import JSON
import Time

private struct RotationRequest: Decodable {
    var immediate: Bool?
}

private struct RotationReply: Encodable {
    let clientID: String
    let clientSecret: String
    @Nullable var previousSecretExpiresAt: String?
}

/// `POST /api/v1/applications/{client_id}/rotate_secret` (accounts §2.1). The previous secret works for 24 more hours,
/// unless the request says `immediate`.
@Sendable func rotateClientSecret(_ call: Call, _ developer: Developer) throws -> Response {
    let immediate = try call.decode(RotationRequest.self).immediate ?? false
    let clientID = call.arguments[0]
    return try call.commit { transaction in
        let (secret, previousExpiresAt) = try call.accounts.rotateSecret(
            of: clientID, immediately: immediate, by: developer.caller, in: transaction)
        return .json(
            .ok,
            RotationReply(
                clientID: clientID, clientSecret: secret, previousSecretExpiresAt: previousExpiresAt?.iso8601))
    }
}
