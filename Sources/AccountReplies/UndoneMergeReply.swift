package import Accounts
import JSON
import Time

/// A row that stands in the way of an undo, or did not go back (accounts Stage 6).
package struct UndoConflictReply: Encodable {
    package let table: String
    package let key: String
    package let reason: String

    package init(_ conflict: UndoConflict) {
        table = conflict.table
        key = conflict.key
        reason = conflict.reason.rawValue
    }
}
