import AccountReplies
import Accounts

extension ListedMergeReply {
    var words: String {
        "\(id.rawValue)  \(createdAt)  user \(linkedUserID.rawValue) into user \(primaryUserID.rawValue)  \(mergedVia)"
    }
}
