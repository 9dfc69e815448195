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
    var claims: [AccountClaimReply]?

    init(_ signedIn: SignedIn, lifetime: Duration?, claims: [AccountClaimReply]?) {
        accessToken = signedIn.accessToken
        expiresIn = lifetime?.components.seconds
        deviceSecret = signedIn.deviceSecret
        let user = signedIn.user
        self.user = UserMember(id: user.id, anonymous: user.anonymous, nickname: user.nickname)
        self.claims = claims
    }
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
    let anonymousID = try CarriedAnonymousID(call)
    return try call.commit { transaction in
        switch try call.accounts.bootstrap(bootstrap, in: transaction) {
        case .success(let signedIn):
            .json(
                .ok,
                BootstrapAnonymousUserReply(
                    signedIn, lifetime: call.accounts.settings.pakLifetime,
                    claims: try anonymousID.claim(
                        for: signedIn.user, on: signedIn.device, isStart: true, in: transaction)))
        case .failure(let failure): call.surface.refusal(failure)
        }
    }
}
