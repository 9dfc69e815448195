import Accounts
import HTTP
import JSON

private struct BootstrapDeviceRequest: Decodable {
    var deviceUUID: String?
    var platform: String?
    @Exact var deviceSecret: String?
    var deviceName: String?
}

/// `POST /api/v1/devices` (accounts §1.2): an anonymous account for an unknown device, a new PAK for a known one.
@Sendable func bootstrapDevice(_ call: Call, _: Anyone) throws -> Response {
    let body = try call.decode(BootstrapDeviceRequest.self)
    guard let uuid = body.deviceUUID.flatMap(DeviceUUID.init) else { throw Failure.invalidRequest }
    guard let platform = body.platform.flatMap(DevicePlatform.init) else { throw Failure.unknownPlatform }
    let bootstrap = DeviceBootstrap(uuid: uuid, platform: platform, secret: body.deviceSecret, name: body.deviceName)
    let anonymousID = try CarriedAnonymousID(call)
    return try call.commit { transaction in
        switch try call.accounts.bootstrap(bootstrap, in: transaction) {
        case .success(let signedIn):
            .json(
                .ok,
                DeviceBootstrapReply(
                    signedIn,
                    claims: try anonymousID.claim(
                        for: signedIn.user, on: signedIn.device, isStart: true, in: transaction)))
        case .failure(let failure): call.surface.refusal(failure)
        }
    }
}
