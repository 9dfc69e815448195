import Accounts
import HTTP

/// `POST /oauth/device_authorization` (RFC 8628 §3.1, accounts §2.11).
@Sendable func authorizeDevice(_ call: Call, _ application: Application) throws -> Response {
    let (scopes, dropped) = try application.allow(try call.form.required("scope"))
    if !dropped.isEmpty { call.note([.scopeDropped], of: application) }
    return try call.commit { transaction in
        let authorization = try call.accounts.authorizeDevice(scopes, for: application, in: transaction)
        try transaction.noteDropped(dropped, for: application)
        return .json(.ok, DeviceAuthorizationReply(authorization, issuer: call.accounts.settings.issuer))
    }
}

private struct DeviceAuthorizationReply: Encodable {
    let deviceCode: String
    let userCode: String
    let verificationURI: String
    let verificationURIComplete: String
    let expiresIn = DeviceAuthorization.lifetime.components.seconds
    let interval = DeviceAuthorization.interval.components.seconds

    init(_ authorization: DeviceAuthorization, issuer: String) {
        deviceCode = authorization.deviceCode
        userCode = authorization.userCode.display
        verificationURI = "\(issuer)/oauth/device"
        verificationURIComplete = "\(verificationURI)?user_code=\(userCode)"
    }
}
