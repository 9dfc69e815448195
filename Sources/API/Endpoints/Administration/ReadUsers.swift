import AccountReplies
import Accounts
import Database
import HTTP
import JSON
import Time

/// `GET /api/v1/admin/users?query=&before=&limit=` (accounts §4.7): users by id, e-mail address, `sub` at a provider or
/// device UUID; without a query all, newest first.
@Sendable func findUsers(_ call: Call, _ administrator: Administrator) throws -> Response {
    let (query, before, limit) = (call.searched, try call.before(User.self), try call.listLimit())
    return try call.show("users", to: administrator) { connection in
        try connection.findUsers(query, before: before, limit: limit)
    } answer: { page in
        .json(.ok, UsersReply(users: page.rows.map(ListedUserReply.init), nextCursor: page.next))
    }
}

/// `GET /api/v1/admin/users/{id}` (accounts §4.7): one account and what belongs to it, the newest of each kind.
@Sendable func readUser(_ call: Call, _ administrator: Administrator) throws -> Response {
    let id = try call.identifier(User.self)
    return try call.show("users", of: id, to: administrator) { connection in
        try connection.userSummary(id, atMost: ListLimit.largest)
    } answer: { summary in
        guard let summary else { throw Failure.notFound }
        return .json(.ok, UserSummaryReply(summary))
    }
}

private struct UsersReply: Encodable {
    let users: [ListedUserReply]
    @Nullable var nextCursor: String?
}
