/// The key of a prepared statement in the cache. Literals are compared by their address, so their length does not
/// matter.
enum StatementKey: Hashable {
    case literal(StaticString)
    case composed(String)
    case block(StatementBlock)

    var text: String {
        switch self {
        case .literal(let sql): "\(sql)"
        case .composed(let sql): sql
        case .block(let block): block.text
        }
    }

    var isBlock: Bool { if case .block = self { true } else { false } }

    static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.literal(let left), .literal(let right)): left.utf8Start == right.utf8Start
        case (.composed(let left), .composed(let right)): left == right
        case (.block(let left), .block(let right)): left == right
        default: false
        }
    }

    func hash(into hasher: inout Hasher) {
        switch self {
        case .literal(let sql): hasher.combine(sql.utf8Start)
        // Few statements have the same length; `==` tells these apart.
        case .composed(let sql): hasher.combine(sql.utf8.count)
        case .block(let block): hasher.combine(block)
        }
    }
}

/// Several statements as one, in one round trip. The first that fails ends it.
///
/// > BEGIN NOT ATOMIC: outside of stored programs; the keywords are needed to tell it from BEGIN, which starts a transaction.
struct StatementBlock: Hashable {
    var statements: [StatementKey]
    /// Whether it ends the transaction.
    var commits = false

    var text: String {
        let all = statements.map(\.text) + (commits ? ["COMMIT"] : [])
        return "BEGIN NOT ATOMIC \(all.joined(separator: "; ")); END"
    }
}
