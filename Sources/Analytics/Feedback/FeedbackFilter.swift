/// Which feedback a read shows (analytics §13.3).
package struct FeedbackFilter: Sendable {
    package var scope: ReadScope
    package var status: String?
    package var isDev: Bool?
    /// Production, unless it is named or `isDev` is.
    package var dataMode: DataMode?

    package init(_ scope: ReadScope) { self.scope = scope }

    /// What `is_dev` may be.
    var modes: [Bool] {
        (dataMode ?? (isDev == nil ? .production : .all)).modes.filter { isDev == nil || $0 == isDev }
    }
}
