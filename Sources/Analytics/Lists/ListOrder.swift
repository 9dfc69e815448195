/// Which way a list goes by its sort value; rows with the same value go by their id, the same way.
package enum ListOrder: String, Sendable, CaseIterable {
    case ascending = "asc"
    case descending = "desc"

    func areInOrder<ID: Comparable>(_ left: Cursor<ID>, _ right: Cursor<ID>) -> Bool {
        self == .ascending ? left < right : right < left
    }
}
