import JSON
import Testing

/// Swaps of random accounts, compared with a model of the counts and the rows that they must have.
@Suite struct SwapModelTests {
    let app: TestApp
    let scene: SwapScene

    init() throws {
        app = try TestApp()
        scene = try SwapScene(app)
    }

    @Test func anyAccountsAndAnySelection() throws {
        var random = SplitMix64(state: 20_260_512)
        let rps = try (0..<5).map { try scene.relyingParty("RP \($0)", notified: $0 % 2 == 0) }
        let stranger = try scene.identified()
        for round in 0..<40 {
            let cast = try Cast(scene, rps, stranger, &random)
            let invariants = try SwapInvariants(scene)
            let members: [(String, JSONValue)] = [("merge_options", cast.options)]
            let proof = SwapScene.Proof.allCases.randomElement(using: &random) ?? .token
            let preview = try scene.preview(cast.a, into: cast.b, by: proof, members)
            let plan = try #require(preview["plan"]?.string)
            let answer = try scene.swap(cast.a, into: cast.b, by: proof, members, ifMatch: "\"\(plan)\"")
            #expect(answer["merged"] == cast.merged, "round \(round)")
            #expect(preview["merged"] == cast.merged, "round \(round)")
            #expect(preview["rps"] == cast.fates, "round \(round)")
            try invariants.check([cast.expected], "round \(round)")
        }
    }

    /// Two random accounts, and the expected result of their swap.
    private struct Cast {
        let a: Phone
        let b: IdentifiedUser
        var options: JSONValue = [:]
        var merged: JSONValue = .null
        var fates: JSONValue = []
        var expected: DoneSwap

        init(
            _ scene: SwapScene, _ rps: [RelyingParty], _ stranger: IdentifiedUser, _ random: inout SplitMix64
        ) throws {
            a = try scene.anonymous()
            b = try scene.identified()
            expected = DoneSwap(from: a.userID, into: b.id)
            expected.agentApprovals = Int.random(in: 0..<4, using: &random) > 0
            expected.notifications = Int.random(in: 0..<4, using: &random) > 0
            let grants = try addGrants(scene, rps, &random)
            let approvals = try addApprovals(scene, &random)
            let notifications = try addNotifications(scene, stranger, &random)
            merged = ["rps": grants, "agent_approvals": approvals, "notifications": ["transferred": notifications]]
            options = options.adding([
                "agent_approvals": .bool(expected.agentApprovals), "notifications": .bool(expected.notifications),
            ])
        }

        private mutating func addGrants(
            _ scene: SwapScene, _ rps: [RelyingParty], _ random: inout SplitMix64
        ) throws -> JSONValue {
            let selected = Bool.random(using: &random) ? rps.filter { _ in Bool.random(using: &random) } : nil
            if let selected {
                options = ["rps": .array(selected.shuffled(using: &random).map { .string($0.clientID) })]
                expected.selectedGrants = []
            }
            var fates: [JSONValue] = []
            for (number, rp) in rps.enumerated() {
                let own = Int.random(in: 0..<3, using: &random)
                if own > 0 { try scene.grant(b.id, rp, revoked: own == 1) }
                let state = Int.random(in: 0..<4, using: &random)
                if state == 0 { continue }
                let grant = try scene.grant(a.userID, rp, revoked: state == 1)
                if state == 1 { continue }
                let isSelected = selected?.contains { $0.id == rp.id } ?? true
                if isSelected { expected.selectedGrants?.insert(grant) }
                let fate = isSelected ? (own == 2 ? "skipped_duplicate" : "transferred") : "dropped"
                fates.append([
                    "client_id": .string(rp.clientID), "name": .string("RP \(number)"), "fate": .string(fate),
                ])
            }
            self.fates = .array(fates)
            return counts(fates.compactMap { $0["fate"]?.string })
        }

        private func addApprovals(_ scene: SwapScene, _ random: inout SplitMix64) throws -> JSONValue {
            let (agent, ownAgent) = (try scene.agent(a.userID), try scene.agent(b.id))
            var fates: [String] = []
            for payload in 0..<5 {
                let statuses: [String?] = ["pending", "pending", "approved", "expired", nil]
                let own = statuses.randomElement(using: &random) ?? nil
                let mine = statuses.randomElement(using: &random) ?? nil
                if let own { try scene.approval(b.id, of: ownAgent, payload: "\(payload)", status: own) }
                guard let mine else { continue }
                try scene.approval(a.userID, of: agent, payload: "\(payload)", status: mine)
                fates.append(mine == "pending" && own == "pending" ? "skipped_duplicate" : "transferred")
            }
            return counts(expected.agentApprovals ? fates : [])
        }

        private func addNotifications(
            _ scene: SwapScene, _ stranger: IdentifiedUser, _ random: inout SplitMix64
        ) throws -> JSONValue {
            let users = [a.userID, b.id, stranger.id, nil]
            var count: Int64 = 0
            for _ in 0..<4 {
                let requested = users.randomElement(using: &random) ?? nil
                let approved = users.randomElement(using: &random) ?? nil
                try scene.notification(requested: requested, approved: approved)
                if requested == a.userID || approved == a.userID { count += 1 }
            }
            return .integer(expected.notifications ? count : 0)
        }

        private func counts(_ fates: [String]) -> JSONValue {
            func count(_ fate: String) -> JSONValue { .integer(Int64(fates.count { $0 == fate })) }
            return ["transferred": count("transferred"), "skipped_duplicate": count("skipped_duplicate")]
        }
    }
}
