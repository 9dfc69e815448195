import Accounts
import Database
import HTTP
import SignInClaims
import Time

/// `GET /api/v1/me/export` (accounts §4.8): everything the server keeps about the account but secrets and digests, three
/// times a day.
@Sendable func exportAccount(_ call: Call, _ caller: Caller) throws -> Response { try call.export(by: caller) }

extension Call {
    /// The data of a caller as an answer. It is counted before it is read: whoever is refused reads nothing, however many ask at
    /// once, and what then cannot be read counts, too.
    ///
    /// - Returns: for HEAD, an answer without the data and its length, which nobody has read.
    /// - Throws: `rateLimited` after three in a day; `accountTooLarge` if there is more than one answer can have.
    func export(by caller: Caller, headers: [HeaderField] = []) throws -> Response {
        var response = try commit { transaction in
            try transaction.noteExport(by: caller)
            return Response(.ok, headers: [HeaderField("Content-Type", "application/json")] + headers)
        }
        if request.method == .head {
            response.hasUnknownLength = true
            return response
        }
        response.stream = try database.exportedAccount(
            of: caller.id, at: accounts.clock.now, accounts.serverKey, within: accounts.settings.exportBound)
        // A swap may have deleted the account meanwhile.
        if response.stream == nil { throw Failure.invalidToken }
        return response
    }
}
