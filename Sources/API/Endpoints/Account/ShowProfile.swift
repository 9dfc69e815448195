import Accounts
import HTTP

/// `GET /api/v1/me` (accounts §1.7): the authenticating read has read it all.
@Sendable func showProfile(_ call: Call, _ caller: Caller) -> Response {
    .json(.ok, ProfileReply(caller.user))
}
