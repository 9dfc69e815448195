import Accounts
import HTTP
import JSON

private struct BootstrapAnonymousUserRequest: Decodable {
    var deviceID: String?
    var devicePlatform: String?
    @Exact var deviceSecret: String?
    var deviceName: String?
}

private struct BootstrapAnonymousUserReply: Encodable {
    struct UserMember: Encodable {
        var id: User.ID
        var anonymous: Bool
        @Nullable var nickname: String?
    }

    var accessToken: String
    var tokenType = "Bearer"
    @Nullable var expiresIn: Int64?
    var deviceSecret: String?
    var user: UserMember
}

/// `POST /api/v1/auth/anonymous_bootstrap` (accounts §1.3): the same rules as `POST /api/v1/devices`, with other member
/// names.
@Sendable func bootstrapAnonymousUser(_ call: Call, _: Anyone) throws -> Response {
    let body = try call.decode(BootstrapAnonymousUserRequest.self)
    guard let uuid = body.deviceID.flatMap(DeviceUUID.init) else { throw Failure.invalidRequest }
    guard let platform = body.devicePlatform.flatMap(DevicePlatform.init), [.ios, .macos].contains(platform) else {
        throw Failure.unknownPlatform
    }
    let bootstrap = DeviceBootstrap(uuid: uuid, platform: platform, secret: body.deviceSecret, name: body.deviceName)
    return try call.commit { transaction in
        let signedIn = try call.accounts.bootstrap(bootstrap, in: transaction)
        let user = signedIn.user
        return .json(
            .ok,
            BootstrapAnonymousUserReply(
                accessToken: signedIn.accessToken,
                expiresIn: call.accounts.settings.pakLifetime.map(\.components.seconds),
                deviceSecret: signedIn.deviceSecret,
                user: .init(id: user.id, anonymous: user.anonymous, nickname: user.nickname)))
    }
}
