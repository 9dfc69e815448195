import Foundation

// What AccountSession sends to /api/v1, and what it reads of the answers (accounts §1.3 to §1.9, §3.1).

struct BootstrapBody: Encodable {
    let deviceUUID: String?
    let platform: DevicePlatform
    let deviceSecret: String?
    let deviceName: String?
    let anonymousID: String?
}

struct CredentialBody: Encodable {
    var provider: String?
    let identityToken: String
    let rawNonce: String
    let fullName: ProviderCredential.FullName?
    let authorizationCode: String?
    var deviceUUID: String?
    var platform: DevicePlatform?
    var deviceSecret: String?
    let anonymousID: String?

    init(_ credential: ProviderCredential, anonymousID: String?) {
        provider = credential.provider
        identityToken = credential.identityToken
        rawNonce = credential.nonce
        fullName = credential.fullName
        authorizationCode = credential.authorizationCode
        self.anonymousID = anonymousID
    }
}

struct SwapBody: Encodable {
    struct Options: Encodable {
        let rps: [String]?
        let agentApprovals: Bool
        let notifications: Bool
    }

    let swapTicket: String
    let mergeOptions: Options
    var deviceUUID: String?
    var platform: DevicePlatform?
    var anonymousID: String?
    var dryRun: Bool?

    init(_ ticket: SwapTicket, _ selection: SwapSelection) {
        swapTicket = ticket.secret
        mergeOptions = Options(
            rps: selection.applications, agentApprovals: selection.agentApprovals,
            notifications: selection.notifications)
    }
}

struct MergeTokenBody: Encodable {
    let idempotencyKey: String
}

struct MergeBody: Encodable {
    var targetSessionToken: String?
    var targetEmail: String?
    var otpCode: String?
    var dryRun: Bool?

    init(targetEmail: String) { self.targetEmail = targetEmail }

    init(_ proof: MergeProof) {
        switch proof.kind {
        case .token(let token): targetSessionToken = token
        case .code(let code, let email): (otpCode, targetEmail) = (code, email)
        }
    }
}

/// DeviceBootstrapResponse.
struct BootstrapReply: Decodable {
    struct Device: Decodable {
        let deviceUUID: String

        enum CodingKeys: String, CodingKey { case deviceUUID = "deviceUuid" }
    }

    let user: Account
    let accessToken: String
    let device: Device?
    let deviceSecret: String?
}

struct LinkReply: Decodable {
    let user: Account
    let connectedIdentities: [ConnectedIdentity]
}

struct TicketReply: Decodable {
    let swapTicket: String
}

struct SwapReply: Decodable {
    let merged: SwapSummary
}

struct MergeTokenReply: Decodable {
    let sessionToken: String
}

/// For answers that say nothing.
struct NoReply: Decodable {}
