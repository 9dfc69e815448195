import Accounts
import HTTP
import JSON

private struct ExchangeDeviceKeyRequest: Decodable {
    var deviceUUID: String?
    var platform: String?
    @Exact var deviceSecret: String?
}

private struct ExchangeDeviceKeyReply: Encodable {
    let accessToken: String
    let tokenType = "Bearer"
    let scopes: [String]
    let deviceID: Device.ID
    let device: DeviceReply
    let deviceSecret: String?
    let claims: [AccountClaimReply]?

    init(_ key: ExchangedPAK, claims: [AccountClaimReply]?) {
        accessToken = key.accessToken
        scopes = key.scopes.map(\.rawValue)
        deviceID = key.device.id
        device = DeviceReply(key.device)
        deviceSecret = key.deviceSecret
        self.claims = claims
    }
}

/// `POST /api/v1/me/device_keys/exchange` (accounts §1.4): issues a PAK on a device for a relying party's access token.
@Sendable func exchangeDeviceKey(_ call: Call, _ token: AccessToken) throws -> Response {
    let body = try call.decode(ExchangeDeviceKeyRequest.self)
    guard let uuid = body.deviceUUID.flatMap(DeviceUUID.init) else { throw Failure.invalidRequest }
    guard let platform = body.platform.flatMap(DevicePlatform.init) else { throw Failure.unknownPlatform }
    let exchange = PAKExchange(uuid: uuid, platform: platform, secret: body.deviceSecret)
    let anonymousID = try token.opensAccount ? CarriedAnonymousID(call) : .none
    return try call.commit { transaction in
        switch try call.accounts.exchange(exchange, for: token, in: transaction) {
        case .success(let key):
            .json(
                .ok,
                ExchangeDeviceKeyReply(
                    key, claims: try anonymousID.claim(for: key.user, on: key.device, isStart: true, in: transaction)))
        case .failure(let failure): call.surface.refusal(failure)
        }
    }
}
