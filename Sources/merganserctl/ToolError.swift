import AccountReplies
import Accounts
import Analytics
import Configuration
import Database
import Files
import FoundationEssentials
import Glibc
import JSON
import MariaDB

/// Why a command failed, in words for the operator.
struct ToolError: Error {
    /// The `error` member of JSON errors. Each kind has an exit status (sysexits.h).
    enum Kind: String {
        case usage
        case configuration
        case unavailable
        case refused
        case notFound = "not_found"
        case failed
        case undoConflict = "undo_conflict"
        case undoNotPossible = "undo_not_possible"

        var status: Int32 {
            switch self {
            case .usage: EX_USAGE
            case .configuration: EX_CONFIG
            case .unavailable: EX_UNAVAILABLE
            case .refused, .notFound, .failed, .undoConflict, .undoNotPossible: EXIT_FAILURE
            }
        }
    }

    let kind: Kind
    let message: String
    /// One line for each cause, if there are several.
    var problems: [String] = []
    /// Of `undoConflict`.
    var conflicts: [UndoConflictReply]?
    /// Of `undoNotPossible`: its code.
    var reason: String?

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    init(_ error: any Error) {
        switch error {
        case let error as ToolError:
            self = error
        case let error as ConfigurationError:
            self.init(.configuration, "the configuration is wrong")
            problems = error.problems.map(\.description)
        case let error as RefusedOperation:
            self.init(.refused, error.description)
        case let error as OperatorError:
            self.init(.refused, error.description)
        case Failure.accountTooLarge:
            self.init(
                .refused,
                "the account that would be absorbed has more than \(MergePlan.longestHistory) sign-ins; "
                    + "one transaction does not move so many")
        case Failure.rateLimited(let wait):
            let seconds = Int((wait / .seconds(1)).rounded(.up))
            self.init(.refused, "this was done too often; try again in \(seconds) seconds")
        case TransactionFailure.unreachable(let cause):
            self.init(.unavailable, "the database cannot be reached: \(cause.message); check MERGANSER_DATABASE_*")
        case TransactionFailure.exhausted(let cause):
            self.init(.unavailable, "the database was too busy, and nothing was changed: \(cause.message); try again")
        case TransactionFailure.outcomeUnknown(let cause):
            self.init(
                .failed, "the connection was lost during COMMIT: \(cause.message); check whether the change was made")
        case let error as MariaDBError where error.isConnectionLost:
            self.init(.unavailable, "the database cannot be reached: \(error.message); check MERGANSER_DATABASE_*")
        case let error as CocoaError:
            let cause = (error.underlying as? POSIXError).map { String(cString: strerror($0.code.rawValue)) }
            self.init(.failed, "\(error.filePath ?? ""): \(cause ?? "\(error.code)")")
        default:
            self.init(.failed, "\(error)")
        }
    }

    func exit(json: Bool) -> Never {
        let text =
            json
            ? String(decoding: body.json(), as: UTF8.self)
            : (["merganserctl: \(message)"] + problems.map { "  \($0)" }).joined(separator: "\n")
        StandardError.write("\(text)\n")
        Glibc.exit(kind.status)
    }

    private var body: Body {
        Body(error: kind.rawValue, message: message, problems: problems, conflicts: conflicts, reason: reason)
    }

    private struct Body: Encodable {
        let error: String
        let message: String
        let problems: [String]
        let conflicts: [UndoConflictReply]?
        let reason: String?
    }
}
