import Accounts
import HTTP
import JSON

private struct DecideDeviceRequest: Decodable {
    @Exact var userCode: String?
    var decision: String?
}

private struct DecideDeviceReply: Encodable {
    let status: String

    init(_ decision: DeviceDecision) {
        status =
            switch decision {
            case .approve: "approved"
            case .deny: "denied"
            }
    }
}

/// `POST /api/v1/oauth/device` (accounts §2.11): the server's own app approves or denies a device that shows a user
/// code.
@Sendable func decideDevice(_ call: Call, _ caller: Caller) throws -> Response {
    let body = try call.decode(DecideDeviceRequest.self)
    guard let userCode = body.userCode, !userCode.isEmpty, let decision = body.decision.flatMap(DeviceDecision.init)
    else { throw Failure.invalidRequest }
    return try call.commit { transaction in
        switch try call.accounts.decideDevice(decision, userCode: userCode, by: caller, in: transaction) {
        case .success: .json(.ok, DecideDeviceReply(decision))
        case .failure(let failure): call.surface.refusal(failure)
        }
    }
}
