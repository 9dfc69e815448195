/// The key of a prepared statement in the cache. Literals are compared by their address, so their length does not
/// matter.
enum StatementKey: Hashable {
    case literal(StaticString)
    case composed(String)

    var text: String {
        switch self {
        case .literal(let sql): "\(sql)"
        case .composed(let sql): sql
        }
    }

    static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.literal(let left), .literal(let right)): left.utf8Start == right.utf8Start
        case (.composed(let left), .composed(let right)): left == right
        default: false
        }
    }

    func hash(into hasher: inout Hasher) {
        switch self {
        case .literal(let sql): hasher.combine(sql.utf8Start)
        case .composed(let sql): hasher.combine(sql)
        }
    }
}
