import Accounts
import HTTP

/// `GET` and `POST /oauth/userinfo` and `/api/v1/oauth/userinfo` (accounts §2.9): who the access token stands for.
@Sendable func showUserInfo(_ call: Call, _ token: AccessToken) throws -> Response {
    .json(.ok, token.subject.userInfo(token.scopes))
}
