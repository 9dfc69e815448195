import Accounts
import HTTP
import JSON
import Time

private struct DeleteAccountReply: Encodable {
    var deletedAt: String
    var purgeAt: String
}

/// `DELETE /api/v1/me` (accounts §4.5): ends everything that opens the account at once, and the account itself when its
/// grace is over; 202.
@Sendable func deleteAccount(_ call: Call, _ caller: Caller) throws -> Response {
    try call.commit { transaction in
        let deletion = try call.accounts.deleteAccount(of: caller, in: transaction)
        return .json(
            .accepted,
            DeleteAccountReply(deletedAt: deletion.deletedAt.iso8601, purgeAt: deletion.purgeAt.iso8601))
    }
}
