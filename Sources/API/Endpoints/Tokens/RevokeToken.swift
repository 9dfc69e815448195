import Accounts
import HTTP
import JSON

/// `POST /oauth/revoke` (RFC 7009, accounts §2.9): always 200. `token_type_hint` is not needed.
@Sendable func revokeToken(_ call: Call, _ application: Application) throws -> Response {
    let token = try call.form.required("token")
    return try call.commit { transaction in
        try call.accounts.revoke(token, by: application, in: transaction)
        return .json(.ok, JSONValue.object(JSONObject([])))
    }
}
