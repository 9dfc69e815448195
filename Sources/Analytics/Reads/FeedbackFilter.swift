/// Which feedback a read shows (analytics §13.3).
package struct FeedbackFilter: Sendable {
    package var scope: ReadScope
    package var status: String?
    package var isDev: Bool?
    /// Production, unless it is named or `isDev` is.
    package var dataMode: DataMode?

    package init(_ scope: ReadScope) { self.scope = scope }

    /// Each has to be what `is_dev` is.
    var modes: [Bool] {
        [isDev, (dataMode ?? (isDev == nil ? .production : .all)).isDev].compactMap { $0 }
    }
}
