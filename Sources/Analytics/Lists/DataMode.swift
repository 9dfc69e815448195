/// Whether a read shows what real people do, what developers do, or both (analytics §13).
package enum DataMode: String, Sendable, CaseIterable {
    case production, development, all

    /// What `is_dev` may be.
    var modes: [Bool] {
        switch self {
        case .production: [false]
        case .development: [true]
        case .all: [false, true]
        }
    }
}
