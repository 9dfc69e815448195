import Analytics
import JSON

/// A page of a list of end users (analytics §13.2).
struct AppUsersReply: Encodable {
    var users: [ListedEndUser]
    @Nullable var cursor: String?
    var hasMore: Bool

    init(_ page: Page<ListedEndUser>) {
        users = page.rows
        cursor = page.cursor
        hasMore = page.hasMore
    }
}
