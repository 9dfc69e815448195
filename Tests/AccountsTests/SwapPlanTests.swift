import TestSupport
import Testing

@testable import Accounts

/// The parts that a plan's name depends on (accounts §1.9).
@Suite struct SwapPlanTests {
    private func plan(
        grants: [(Int64, SwapPlan.Fate)] = [(1, .moved), (2, .duplicate)],
        others: [(StaticString, Int64, SwapPlan.Fate)] = [("agents", 1, .moved), ("devices", 1, .moved)]
    ) -> SwapPlan {
        SwapPlan(
            grants: grants.map { id, fate in
                SwapPlan.PlannedGrant(
                    id: Grant.ID(rawValue: id), application: Application.ID(rawValue: id), clientID: "logi_\(id)",
                    name: "name", sub: "sub", notifiesSwap: false, fate: fate)
            }, others: others.map { SwapPlan.PlannedRow(table: $0.0, id: $0.1, fate: $0.2) })
    }

    private let survivor = User.ID(rawValue: 7)

    private func name(_ plan: SwapPlan, clientIDs: [String]? = nil) -> String {
        plan.name(into: survivor, SwapSelection(clientIDs: clientIDs))
    }

    @Test func itIsFortyThreeCharactersAndAlwaysTheSame() {
        #expect(name(plan()).wholeMatch(of: /[A-Za-z0-9_-]{43}/) != nil)
        #expect(name(plan()) == name(plan()))
    }

    @Test func everythingItShowsCounts() {
        let names = [
            name(plan()), plan().name(into: User.ID(rawValue: 8), SwapSelection()),
            plan().name(into: survivor, SwapSelection(agentApprovals: false)),
            plan().name(into: survivor, SwapSelection(notifications: false)),
            name(plan(), clientIDs: []), name(plan(), clientIDs: ["logi_1"]), name(plan(), clientIDs: ["logi_1", "x"]),
            name(plan(grants: [(1, .moved), (2, .moved)])), name(plan(grants: [(1, .moved), (3, .duplicate)])),
            name(plan(grants: [(1, .moved)])), name(plan(others: [("agents", 1, .moved), ("devices", 1, .dropped)])),
            name(plan(others: [("agent_approvals", 1, .moved), ("devices", 1, .moved)])),
            name(plan(others: [("agents", 11, .moved), ("devices", 1, .moved)])), name(plan(others: [])),
        ]
        #expect(Set(names).count == names.count)
    }

    @Test func theSelectionIsASet() {
        #expect(name(plan(), clientIDs: ["a", "b"]) == name(plan(), clientIDs: ["b", "a", "b"]))
        // Of bytes.
        #expect(name(plan(), clientIDs: ["\u{E9}"]) != name(plan(), clientIDs: ["e\u{301}"]))
        let selection = SwapSelection(clientIDs: ["\u{E9}"])
        #expect(selection.selects(clientID: "\u{E9}") && !selection.selects(clientID: "e\u{301}"))
        #expect(SwapSelection().selects(clientID: "any") && !SwapSelection(clientIDs: []).selects(clientID: "any"))
    }

    @Test func countsAreByTableAndFate() {
        let plan = plan(
            grants: [(1, .moved), (2, .moved), (3, .duplicate), (4, .dropped)],
            others: [
                ("agent_approvals", 1, .moved), ("agent_approvals", 2, .duplicate), ("agents", 1, .moved),
                ("push_approval_requests", 1, .moved), ("push_approval_requests", 2, .dropped),
            ])
        #expect(
            plan.counts
                == SwapCounts(
                    grantsTransferred: 2, grantsSkipped: 1, approvalsTransferred: 1, approvalsSkipped: 1,
                    notificationsTransferred: 1))
    }

    /// 64 KiB of client ids, and as many grants.
    @Test func aSelectionCostsNoMoreThanItHasTo() throws {
        let factor = try growth(from: 1500) { size in
            (0..<size).map { "logi_\($0)" }
        } work: { clientIDs in
            let selection = SwapSelection(clientIDs: clientIDs)
            #expect(clientIDs.allSatisfy(selection.selects) && selection.fingerprint?.count == clientIDs.count)
        }
        #expect(factor < quasilinear)
        #expect(!SwapSelection(clientIDs: ["logi_\u{212A}"]).selects(clientID: "logi_K"))
    }
}
