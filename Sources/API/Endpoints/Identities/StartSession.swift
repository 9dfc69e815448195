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

    private enum CodingKeys: String, CodingKey {
        case fullName = "full_name"
        case deviceUUID = "device_uuid"
        case platform
        case deviceSecret = "device_secret"
    }
}

/// `POST /api/v1/auth/{provider}/session` (accounts §1.6): signs in with a provider's identity token.
@Sendable func startSession(_ call: Call, _: Anyone) throws -> Response {
    guard let provider = Provider(bytes: call.arguments[0]) else { throw Failure.unknownProvider }
    let body = try call.decode(StartSessionRequest.self)
    let fullName = try checked(body.fullName)
    let device = try namedDevice(body)
    let token = try call.verifyProof(from: provider)
    let start = SessionStart(
        token: token, fullName: fullName, device: device, deviceSecret: body.deviceSecret)
    return try call.commit { transaction in
        .json(.ok, DeviceBootstrapReply(try call.accounts.startSession(start, in: transaction)))
    }
}

private func namedDevice(_ body: StartSessionRequest) throws -> (uuid: DeviceUUID, platform: Platform)? {
    guard body.deviceUUID != nil || body.platform != nil else { return nil }
    guard let uuid = body.deviceUUID.flatMap(DeviceUUID.init), let name = body.platform else {
        throw Failure.invalidRequest
    }
    guard let platform = Platform(rawValue: name) else { throw Failure.unknownPlatform }
    return (uuid, platform)
}

/// - Throws: `invalidRequest` for a name that no account has room for.
func checked(_ fullName: PersonName?) throws -> PersonName? {
    if let fullName, !fullName.fits { throw Failure.invalidRequest }
    return fullName
}

/// The members by which a person proves who they are.
private struct IdentityProof: Decodable {
    @Exact var identityToken: String?
    @Exact var rawNonce: String?

    private enum CodingKeys: String, CodingKey {
        case identityToken = "identity_token"
        case rawNonce = "raw_nonce"
    }
}

extension Call {
    /// Verifies the body's identity token.
    ///
    /// - Throws: as `verify`, and `invalidIdentityToken` when token or nonce is no Unicode text: what stands in for its
    ///   other characters could be the text of another.
    func verifyProof(from provider: Provider) throws -> IdentityToken {
        let proof: IdentityProof
        do {
            proof = try json.get().decode()
        } catch .loneSurrogate {
            throw Failure.invalidIdentityToken(InvalidIdentityToken.Reason.malformedToken.rawValue)
        } catch {
            throw Failure.invalidRequest
        }
        return try verify(proof.identityToken, proof.rawNonce, provider)
    }

    /// Verifies an identity token before any transaction begins: it may have to fetch keys.
    ///
    /// - Throws: `invalidRequest` when token or nonce is absent or empty, `invalidIdentityToken` with the first check that
    ///   failed, `temporarilyUnavailable` when there are no keys to check with.
    func verify(_ token: String?, _ rawNonce: String?, _ provider: Provider) throws -> IdentityToken {
        guard let token, !token.isEmpty, let rawNonce, !rawNonce.isEmpty else { throw Failure.invalidRequest }
        do {
            return try accounts.identityTokens.verify(token, rawNonce: rawNonce, provider: provider)
        } catch let error as InvalidIdentityToken {
            throw Failure.invalidIdentityToken(error.reason.rawValue)
        } catch let error as KeySetUnavailable {
            logger.warning("no key set", metadata: ["provider": "\(error.provider.rawValue)"])
            throw Failure.temporarilyUnavailable
        }
    }
}
