package import Accounts
package import JSON
import Time

/// A merge or swap as administrators see it.
package struct ListedMergeReply: Encodable {
    package let id: MergeID
    package let primaryUserID: User.ID
    package let linkedUserID: User.ID
    package let mergedVia: String
    package let createdAt: String
    @Nullable package var undoUntil: String?
    @Nullable package var undoneAt: String?

    package init(_ merge: ListedMerge) {
        id = merge.id
        primaryUserID = merge.survivor
        linkedUserID = merge.absorbed
        mergedVia = merge.mergedVia
        createdAt = merge.createdAt.iso8601
        undoUntil = merge.undoUntil?.iso8601
        undoneAt = merge.undoneAt?.iso8601
    }
}
