import AccountReplies
import Accounts
import Database
import HTTP
import JSON

/// `GET /api/v1/admin/merges?user_id=&before=&limit=` (accounts §4.7): the newest first.
@Sendable func listMerges(_ call: Call, _ administrator: Administrator) throws -> Response {
    let (user, before) = (try call.filter("user_id", User.self), try call.mergeBefore())
    let limit = try call.listLimit()
    return try call.show("merges", of: user, to: administrator) { connection in
        try connection.merges(of: user, after: before, limit: limit)
    } answer: { page in
        .json(.ok, MergesReply(merges: page.rows.map(ListedMergeReply.init), nextCursor: page.next))
    }
}

/// `GET /api/v1/admin/merges/{id}` (accounts §4.7): a merge or swap, and both accounts as they are now.
@Sendable func readMerge(_ call: Call, _ administrator: Administrator) throws -> Response {
    let id = try call.mergeID()
    return try call.show("merges", id: id.text, to: administrator) { connection in
        try connection.mergeWithUsers(id)
    } answer: { found in
        guard let found else { throw Failure.notFound }
        return .json(
            .ok,
            MergeDetailReply(
                merge: ListedMergeReply(found.merge), primary: found.survivor.map(ListedUserReply.init),
                linked: found.absorbed.map(ListedUserReply.init)))
    }
}

private struct MergesReply: Encodable {
    let merges: [ListedMergeReply]
    @Nullable var nextCursor: String?
}

private struct MergeDetailReply: Encodable {
    let merge: ListedMergeReply
    @Nullable var primary: ListedUserReply?
    @Nullable var linked: ListedUserReply?
}
