import Accounts
import HTTP
import IdentityTokens
import JSON

private struct AppleNotificationRequest: Decodable {
    @Exact var payload: String?
}

/// `POST /auth/apple/notifications` (accounts §4.5): Apple's server says what became of somebody's account there; 200,
/// also for people whom nobody here is.
@Sendable func receiveAppleNotification(_ call: Call, _: Anyone) throws -> Response {
    guard let payload = try call.decode(AppleNotificationRequest.self).payload, !payload.isEmpty else {
        throw Failure.invalidRequest
    }
    let notification = try call.verifying(.apple) { try call.accounts.identityTokens.verifyNotification(payload) }
    return try call.commit { transaction in
        try call.accounts.receive(notification, in: transaction)
        return .json(.ok, [String: String]())
    }
}
