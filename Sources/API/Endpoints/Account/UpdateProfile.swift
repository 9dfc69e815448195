import Accounts
import HTTP
import JSON

private struct UpdateProfileRequest: Decodable {
    var name: Presence<String>
    var nickname: Presence<String>
    var contactEmail: Presence<String>
}

/// `PATCH /api/v1/me` (accounts §1.7): sets, or clears with `null`, name, nickname and contact_email.
@Sendable func updateProfile(_ call: Call, _ caller: Caller) throws -> Response {
    let body = try call.decode(UpdateProfileRequest.self)
    let changes = ProfileChanges(
        name: body.name.change, nickname: body.nickname.change, contactEmail: body.contactEmail.change)
    return try call.commit { transaction in
        .json(.ok, ProfileReply(try call.accounts.updateProfile(of: caller, changes, in: transaction)))
    }
}
