import Analytics
import HTTP

extension Call {
    /// Reads the filters that all lists of feedback share.
    var feedbackFilter: FeedbackFilter {
        let query = queryParameters
        var filter = FeedbackFilter(query.scope)
        filter.status = query["status"]
        filter.isDev = query.bool("is_dev")
        filter.dataMode = query.dataMode
        return filter
    }
}
