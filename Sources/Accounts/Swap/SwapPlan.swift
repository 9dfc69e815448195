import Text

/// What a swap would do, row by row. A dry run shows the plan, and `If-Match` makes the swap follow it.
package struct SwapPlan: Sendable {
    /// What happens to a row of A.
    package enum Fate: String, Sendable {
        /// The row moves to B.
        case moved
        /// B has an equivalent row, which stays.
        case duplicate
        /// The row was not selected, and is deleted with A.
        case dropped
    }

    package struct PlannedGrant: Sendable {
        var id: Grant.ID
        var application: Application.ID
        package var clientID: String
        package var name: String
        var sub: String
        var notifiesSwap: Bool
        package var fate: Fate
    }

    struct PlannedRow {
        var table: StaticString
        var id: Int64
        var fate: Fate
    }

    package var grants: [PlannedGrant]
    var others: [PlannedRow] = []

    /// The plan's name: over B, the selection and every affected row with its fate.
    func name(into survivor: User.ID, _ selection: SwapSelection) -> String {
        var lines = ["into \(survivor.rawValue)"]
        if let clients = selection.fingerprint {
            lines += ["rps \(clients.count)"] + clients.map(Base64URL.encode)
        } else {
            lines.append("rps all")
        }
        lines.append("agent_approvals \(selection.agentApprovals) notifications \(selection.notifications)")
        lines += grants.map { "grants \($0.id.rawValue) \($0.fate.rawValue)" }
        lines += others.map { "\($0.table) \($0.id) \($0.fate.rawValue)" }
        return planName(lines)
    }

    func count(_ table: StaticString, _ fate: Fate) -> Int {
        others.count { $0.fate == fate && $0.table.description == table.description }
    }
}

/// How many rows a swap moved, and how many it skipped because B has equivalent ones.
package struct SwapCounts: Equatable, Sendable {
    package var grantsTransferred = 0
    package var grantsSkipped = 0
    package var approvalsTransferred = 0
    package var approvalsSkipped = 0
    package var notificationsTransferred = 0
}
