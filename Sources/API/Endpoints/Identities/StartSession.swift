import Accounts
import HTTP
import IdentityTokens
import JSON
import Text

private struct StartSessionRequest: Decodable {
    var fullName: PersonName?
    var deviceUUID: String?
    var platform: String?
    @Exact var deviceSecret: String?
    @Exact var authorizationCode: String?
}

/// `POST /api/v1/auth/{provider}/session` (accounts §1.6): signs in with a provider's identity token.
@Sendable func startSession(_ call: Call, _: Anyone) throws -> Response {
    guard let provider = Provider(bytes: call.arguments[0]) else { throw Failure.unknownProvider }
    let body = try call.decode(StartSessionRequest.self)
    let fullName = try checked(body.fullName)
    let device = try namedDevice(body)
    let anonymousID = try CarriedAnonymousID(call)
    let token = try call.verifyProof(from: provider)
    try call.exchangeAppleCode(body.authorizationCode, with: token)
    let request = SignInRequest(
        token: token, fullName: fullName, device: device, deviceSecret: body.deviceSecret)
    return try call.commit { transaction in
        switch try call.accounts.startSession(request, in: transaction) {
        case .success(let signedIn):
            .json(
                .ok,
                DeviceBootstrapReply(
                    signedIn, claims: try anonymousID.claim(for: signedIn.user, on: signedIn.device, in: transaction)))
        case .failure(let failure): call.surface.refusal(failure)
        }
    }
}

private func namedDevice(_ body: StartSessionRequest) throws -> (uuid: DeviceUUID, platform: DevicePlatform)? {
    guard body.deviceUUID != nil || body.platform != nil else { return nil }
    guard let uuid = body.deviceUUID.flatMap(DeviceUUID.init), let name = body.platform else {
        throw Failure.invalidRequest
    }
    guard let platform = DevicePlatform(rawValue: name) else { throw Failure.unknownPlatform }
    return (uuid, platform)
}
