import Accounts
import Database
import Files
import HTTP
import OpenSSL
import Text
import Time

/// `GET /api/v1/me/export` (accounts §4.8): everything the server keeps about the account but secrets and digests, three
/// times a day.
@Sendable func exportAccount(_ call: Call, _ caller: Caller) throws -> Response { try call.export(by: caller) }

extension Call {
    /// The data of a caller as an answer. It may be larger than a worker's memory, so it waits in a file that loses its name at
    /// once. It is counted before it is read: whoever is refused reads nothing, however many ask at once, and what then
    /// cannot be read counts, too.
    ///
    /// - Returns: for HEAD, an answer without the data and its length, which nobody has read.
    /// - Throws: `rateLimited` after three in a day.
    func export(by caller: Caller, headers: [HeaderField] = []) throws -> Response {
        var response = try commit { transaction in
            try transaction.noteExport(by: caller)
            return Response(.ok, headers: [HeaderField("Content-Type", "application/json")] + headers)
        }
        if request.method == .head {
            response.hasUnknownLength = true
            return response
        }
        let (now, serverKey) = (accounts.clock.now, accounts.serverKey)
        response.stream = try database.snapshot { connection -> StoredFile? in
            let path = "\(Folder.temporary)/merganser-export-\(randomBytes(16).hexadecimal)"
            let file = try NewFile(path)
            let isThere = try connection.exportAccount(of: caller.id, at: now, serverKey) { try file.append($0) }
            return isThere ? try StoredFile(path) : nil
        }
        // A swap may have deleted the account meanwhile.
        if response.stream == nil { throw Failure.invalidToken }
        return response
    }
}
