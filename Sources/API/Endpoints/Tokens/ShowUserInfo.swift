import Accounts
import HTTP

/// `GET` and `POST /oauth/userinfo` and `/api/v1/oauth/userinfo` (accounts §2.9): the claims about the user of an
/// access token.
@Sendable func showUserInfo(_ call: Call, _ token: AccessToken) throws -> Response {
    .json(.ok, token.subject.userInfo(token.scopes))
}
