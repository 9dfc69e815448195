import Accounts
import HTTP

/// `DELETE /api/v1/auth/session` (accounts §1.1): revokes the presented PAK; 204.
@Sendable func endSession(_ call: Call, _ caller: Caller) throws -> Response {
    try call.commit { transaction in
        try call.accounts.endSession(caller, in: transaction)
        return Response(.noContent)
    }
}
