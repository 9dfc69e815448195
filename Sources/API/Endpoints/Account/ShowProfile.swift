import Accounts
import HTTP

/// `GET /api/v1/me` (accounts §1.7). The read that authenticated the caller has read the whole account.
@Sendable func showProfile(_ call: Call, _ caller: Caller) -> Response {
    .json(.ok, ProfileReply(caller.user))
}
