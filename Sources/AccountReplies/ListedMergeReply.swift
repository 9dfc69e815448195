package import Accounts
import Time

/// A merge as administrators see it.
package struct ListedMergeReply: Encodable {
    package let id: IdentityLink.ID
    package let primaryUserID: User.ID
    package let linkedUserID: User.ID
    package let mergedVia: String
    package let createdAt: String

    package init(_ merge: ListedMerge) {
        id = merge.id
        primaryUserID = merge.primary
        linkedUserID = merge.linked
        mergedVia = merge.mergedVia
        createdAt = merge.createdAt.iso8601
    }
}
