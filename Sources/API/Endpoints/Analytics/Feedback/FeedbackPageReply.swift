import Analytics
import JSON

/// A page of a list of feedback (analytics §13.3).
struct FeedbackPageReply: Encodable {
    var feedback: [ListedFeedback]
    @Nullable var cursor: String?
    var hasMore: Bool

    init(_ page: Page<ListedFeedback>) {
        feedback = page.rows
        cursor = page.cursor
        hasMore = page.hasMore
    }
}
