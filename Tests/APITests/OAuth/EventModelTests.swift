import API
import Accounts
import Database
import Foundation
import HTTP
import IdentityTokens
import JOSE
import JSON
import MariaDB
import TestSupport
import Testing
import Time

/// Random sequences of everything that changes who people are to relying parties, against a small model of what each
/// relying party is told (accounts §3.3) and of what tokens say (accounts §2.7).
@Suite struct EventModelTests {
    /// A failure names its seed. `MERGANSER_MODEL_SEEDS=1000-1999` runs these instead.
    private static var seeds: [UInt64] {
        let given = ProcessInfo.processInfo.environment["MERGANSER_MODEL_SEEDS"]?.split(separator: "-")
        guard let bounds = given?.compactMap({ UInt64($0) }), let first = bounds.first, let last = bounds.last else {
            return Array(1...6)
        }
        return Array(first...last)
    }

    @Test(arguments: seeds)
    func relyingPartiesAreToldWhatHappened(seed: UInt64) throws {
        var random = SplitMix64(state: seed)
        let world = try World()
        for step in 1...150 {
            let command = Command.mixed.randomElement(using: &random) ?? .signIn
            try world.run(command, &random)
            try #require(try world.told() == world.expected, "step \(step): \(command)")
        }
        #expect(Set(world.expected.values.joined().map { $0.prefix { $0 != " " } }).count >= 4)
        try world.checkNumbers()
        try world.checkClaims()
    }

    private enum Command: CaseIterable {
        case meet, signIn, promote, linkMore, unlink, swap, disconnect, refresh, reuseToken, replayCode, revoke
        case webSignIn, mergeByToken, mergeByOTP, mergeByOperator
        case delete, restore, purge, prune

        /// Sign-ins are what everything else is about.
        static let mixed =
            allCases + [.meet, .promote, .disconnect] + Array(repeating: .signIn, count: 6)
            + Array(repeating: .refresh, count: 3)
    }

    /// What one sign-in at a relying party gave.
    private final class Family {
        let code: String
        var current: String
        var retired: [String] = []
        var isLive = true

        init(code: String, current: String) {
            self.code = code
            self.current = current
        }
    }

    private final class Grant {
        let rp: TestClient
        let sub: Int
        /// In the order of their rows.
        let number: Int
        var isLive = true
        /// Also those of the time before the consent was withdrawn.
        var families: [Family] = []

        init(_ rp: TestClient, sub: Int, number: Int) {
            self.rp = rp
            self.sub = sub
            self.number = number
        }
    }

    private final class Person {
        let id: Int
        /// With a PAK that is good.
        var phone: Phone
        /// None: anonymous.
        var subjects: [String] = []
        var hasGoogle = false
        /// That mail reaches, and those of accounts that this one absorbed.
        var address: String?
        var formerAddresses: [String] = []
        var grants: [Grant] = []
        /// What each relying party was told of its deletion: sub and linked subs.
        var deletion: [(rp: TestClient, known: String)] = []
        /// Users that became this one, and by relying party the subs that swaps moved here.
        var absorbed: Set<Int> = []
        var swapped: [Int: Set<Int>] = [:]

        init(_ phone: Phone) {
            self.phone = phone
            id = phone.userID
        }

        func grants(at rp: TestClient) -> [Grant] {
            grants.filter { $0.rp.id == rp.id }.sorted { $0.number < $1.number }
        }

        /// The one that a new sign-in uses.
        func grant(at rp: TestClient) -> Grant? {
            let all = grants(at: rp)
            let live = all.filter(\.isLive)
            let candidates = live.isEmpty ? all : live
            return candidates.first { $0.sub == id } ?? candidates.first
        }
    }

    private final class World {
        let scene: OAuthScene
        let rps: [TestClient]
        private let notified: Set<Int>
        private let outbox: Connection
        private var people: [Person] = []
        private var deleted: [Person] = []
        private var made = 0
        /// By relying party: `type sub canonical …`.
        private(set) var expected: [Int: [String]] = [:]

        init() throws {
            let scene = try OAuthScene()
            self.scene = scene
            rps = try (0..<4).map { number in
                try scene.register(
                    "RP \(number)", confidential: number == 0, anonymous: true, notified: number % 2 == 0)
            }
            notified = Set([rps[0].id, rps[2].id])
            outbox = try scene.app.database.connect()
        }

        private func expect(_ event: String, at rp: TestClient) { expected[rp.id, default: []].append(event) }

        /// The rows of the outbox in the words of the model.
        func told() throws -> [Int: [String]] {
            let rows = try outbox.all(
                """
                SELECT application_id, CONCAT_WS(' ', event_type,
                    JSON_VALUE(raw_payload, '$.data.sub'), JSON_VALUE(raw_payload, '$.data.canonical_sub'),
                    JSON_VALUE(raw_payload, '$.data.merged_canonical_sub'),
                    JSON_VALUE(raw_payload, '$.data.survivor_canonical_sub'),
                    JSON_VALUE(raw_payload, '$.data.merged_via'),
                    REPLACE(JSON_EXTRACT(raw_payload, '$.data.linked_subs'), ' ', ''),
                    JSON_VALUE(raw_payload, '$.data.linked_sub'),
                    JSON_VALUE(raw_payload, '$.data.reason'))
                FROM webhook_outbox ORDER BY seq
                """
            ) { row in (try row.read(Int.self), try row.read(String.self)) }
            return Dictionary(grouping: rows, by: \.0).mapValues { $0.map(\.1) }
        }

        /// 1, 2, 3 …, in the order of ids and of rows; and what a poll answers is the same.
        func checkNumbers() throws {
            for rp in rps {
                let rows = try scene.app.sql { db in
                    try db.all(
                        "SELECT seq, event_id FROM webhook_outbox WHERE application_id = ? ORDER BY id", rp.id
                    ) { row in (try row.read(Int.self), try row.read(String.self)) }
                }
                #expect(rows.map(\.0) == Array(1..<(rows.count + 1)))
                #expect(rows.map(\.1) == rows.map(\.1).sorted())
                guard let secret = rp.secret else { continue }
                let answer = scene.client.send(
                    .get, "/api/v1/events?since=0&limit=1000", headers: [("authorization", basic(rp.clientID, secret))])
                let polled = answer["events"]?.array ?? []
                #expect(polled.compactMap { $0["event_id"]?.string } == rows.map(\.1))
            }
        }

        /// Every live sign-in's next id_token names the canonical user, and all who became them.
        func checkClaims() throws {
            for person in people {
                for grant in person.grants where grant.isLive {
                    let linked = person.absorbed.union(person.swapped[grant.rp.id] ?? []).sorted()
                    for family in grant.families where family.isLive {
                        let claims = try Tokens(scene.refresh(family.current, by: grant.rp)).idClaims
                        #expect(claims.string("sub") == "\(grant.sub)")
                        #expect(claims.string("canonical_sub") == "\(person.id)")
                        #expect(claims["is_canonical"] == .bool(grant.sub == person.id))
                        #expect(claims["linked_subs"] == .array(linked.map { .string("\($0)") }))
                    }
                }
            }
        }

        func run(_ command: Command, _ random: inout SplitMix64) throws {
            scene.app.time.advance(by: .seconds(1))
            let person = people.randomElement(using: &random)
            let rp = rps.randomElement(using: &random) ?? rps[0]
            switch command {
            case .meet: people.append(Person(try scene.anonymous()))
            case .signIn: if let person { try signIn(person, at: rp) }
            case .promote: if let person, person.subjects.isEmpty { try promote(person, &random) }
            case .linkMore: if let person, !person.subjects.isEmpty, !person.hasGoogle { try linkGoogle(person) }
            case .unlink: if let person, person.hasGoogle { unlink(person) }
            case .swap: try swap(&random)
            case .disconnect:
                if let person {
                    disconnect(person, from: person.grants.randomElement(using: &random)?.rp ?? rp)
                }
            case .refresh: if let (_, grant, family) = family(&random) { try refresh(grant.rp, family) }
            case .reuseToken: if let (person, grant, family) = family(&random) { reuse(person, grant, family) }
            case .replayCode: if let (person, grant, family) = family(&random) { replay(person, grant, family) }
            case .revoke: if let (_, grant, family) = family(&random) { revoke(grant, family) }
            case .webSignIn:
                if let subject = person?.subjects.randomElement(using: &random) {
                    _ = try scene.signedIn(subject, email: nil)
                }
            case .mergeByToken, .mergeByOTP, .mergeByOperator: try merge(command, &random)
            case .delete: if let person { delete(person) }
            case .restore: if let person = deleted.randomElement(using: &random) { try restore(person) }
            case .purge: if let person = deleted.randomElement(using: &random) { try purge(person, &random) }
            case .prune: try prune(&random)
            }
        }

        private func family(_ random: inout SplitMix64) -> (Person, Grant, Family)? {
            let all = people.flatMap { person in
                person.grants.flatMap { grant in grant.families.map { (person, grant, $0) } }
            }
            return all.randomElement(using: &random)
        }

        private func signIn(_ person: Person, at rp: TestClient) throws {
            let code = try scene.code(rp, as: person.phone)
            let tokens = try Tokens(scene.exchange(code, by: rp))
            made += 1
            let grant = person.grant(at: rp) ?? Grant(rp, sub: person.id, number: made)
            if !person.grants.contains(where: { $0 === grant }) { person.grants.append(grant) }
            grant.isLive = true
            grant.families.append(Family(code: code, current: tokens.refresh))
        }

        private func promote(_ person: Person, _ random: inout SplitMix64) throws {
            made += 1
            let subject = "person \(made)"
            person.address = Bool.random(using: &random) ? "person\(made)@example.com" : nil
            try scene.promote(person.phone, subject: subject, email: person.address)
            person.subjects = [subject]
            for grant in person.grants where grant.isLive {
                expect("user.promoted \(grant.sub) \(person.id)", at: grant.rp)
            }
        }

        private func linkGoogle(_ person: Person) throws {
            made += 1
            let proof = scene.app.proof("google \(made)", of: .google)
            let answer = scene.client.send(
                .post, "/api/v1/me/connected_identities", proof.adding(["provider": "google"]),
                token: person.phone.token)
            try #require(answer.status == 200, "\(answer)")
            person.hasGoogle = true
        }

        private func unlink(_ person: Person) {
            let path = "/api/v1/me/connected_identities/google"
            #expect(scene.client.send(.delete, path, token: person.phone.token).status == 200)
            person.hasGoogle = false
        }

        private func swap(_ random: inout SplitMix64) throws {
            guard let a = people.filter(\.subjects.isEmpty).randomElement(using: &random),
                let b = people.filter({ !$0.subjects.isEmpty }).randomElement(using: &random),
                let subject = b.subjects.randomElement(using: &random)
            else { return }
            let selected = Bool.random(using: &random) ? rps.filter { _ in Bool.random(using: &random) } : rps
            try scene.swap(a.phone, into: subject, rps: selected.map(\.clientID))
            let live = a.grants.filter { grant in
                grant.isLive && selected.contains { $0.id == grant.rp.id }
            }
            let moved = live.filter { grant in !b.grants(at: grant.rp).contains(where: \.isLive) }
            for grant in live {
                b.swapped[grant.rp.id, default: []].insert(grant.sub)
                guard notified.contains(grant.rp.id) else { continue }
                expect(
                    #"user.merged \#(a.id) \#(b.id) anonymous_swap ["\#(grant.sub)"] \#(grant.sub)"#, at: grant.rp)
            }
            b.grants += moved
            people.removeAll { $0 === a }
        }

        // MARK: Merges

        private func merge(_ command: Command, _ random: inout SplitMix64) throws {
            guard let b = people.filter({ !$0.subjects.isEmpty }).randomElement(using: &random),
                let a = people.filter({ $0 !== b }).randomElement(using: &random)
            else { return }
            let method: String
            switch command {
            case .mergeByOTP:
                guard let address = a.address else { return }
                method = "t3_otp"
                let names: [JSONValue] =
                    [["target_user_id": .integer(Int64(a.id))]]
                    + (a.formerAddresses + [address]).map { ["target_email": .string($0)] }
                try mergeByOTP(names.randomElement(using: &random) ?? [:], b)
            case .mergeByOperator:
                method = "t1_device_link"
                try mergeByOperator(a, b, for: Bool.random(using: &random) ? a.phone : b.phone)
            default:
                method = "session_token"
                try mergeByToken(a, b)
            }
            for rp in rps {
                let subs = a.grants(at: rp).filter(\.isLive).map(\.sub)
                guard let newest = subs.last else { continue }
                let all = subs.map { "\"\($0)\"" }.joined(separator: ",")
                expect("user.merged \(a.id) \(b.id) \(method) [\(all)] \(newest)", at: rp)
            }
            b.grants += a.grants
            b.subjects += a.subjects
            b.hasGoogle = b.hasGoogle || a.hasGoogle
            b.formerAddresses += a.formerAddresses + (a.address.map { [$0] } ?? [])
            b.absorbed.formUnion(a.absorbed.union([a.id]))
            b.swapped.merge(a.swapped) { $0.union($1) }
            people.removeAll { $0 === a }
            if Bool.random(using: &random) {
                // The absorbed account's phone starts again, as the survivor's.
                b.phone = a.phone
                b.phone.token = try scene.client.reopen(a.phone)
            }
        }

        private func mergeByToken(_ a: Person, _ b: Person) throws {
            let issued = scene.client.send(.post, "/api/v1/me/merge/session-token", [:], token: a.phone.token)
            let body: JSONValue = ["target_session_token": try #require(issued["session_token"], "\(issued)")]
            let answer = scene.client.send(.post, "/api/v1/me/merge", body, token: b.phone.token)
            try #require(answer.status == 200, "\(answer)")
            // It says nothing a second time.
            #expect(scene.client.send(.post, "/api/v1/me/merge", body, token: b.phone.token).error == "token_consumed")
        }

        private func mergeByOTP(_ name: JSONValue, _ b: Person) throws {
            // Neither has used up the codes of an hour.
            scene.app.time.advance(by: .seconds(3600))
            let asked = scene.client.send(.post, "/api/v1/me/merge/otp", name, token: b.phone.token)
            try #require(asked.status == 202, "\(asked)")
            let code = try #require(try scene.app.mails().last?.code)
            let answer = scene.client.send(
                .post, "/api/v1/me/merge", name.adding(["otp_code": .string(code)]), token: b.phone.token)
            try #require(answer.status == 200, "\(answer)")
        }

        private func mergeByOperator(_ a: Person, _ b: Person, for phone: Phone) throws {
            for isRepeated in [false, true] {
                let device = try #require(DeviceUUID(phone.uuid))
                let merge = try Accounts.write(
                    Database(scene.app.database.options), at: scene.app.time.clock,
                    from: Origin(requestID: "", address: "")
                ) {
                    try scene.app.service.accounts.mergeUsers(
                        User.ID(rawValue: Int64(a.id)), into: User.ID(rawValue: Int64(b.id)), for: .device(device),
                        .none, in: $0)
                }
                #expect(merge.isRepeated == isRepeated)
            }
        }

        // MARK: Deletions

        /// All consents end. The relying party is told by which names it knew the person.
        private func endConsents(_ person: Person, _ reason: String) -> [(rp: TestClient, known: String)] {
            var told: [(rp: TestClient, known: String)] = []
            for rp in rps {
                let live = person.grants(at: rp).filter(\.isLive)
                guard let first = person.grant(at: rp), !live.isEmpty else { continue }
                for grant in live {
                    expect("token.revoked \(grant.sub) \(person.id) \(reason)", at: rp)
                    expect("consent.revoked \(grant.sub) \(person.id) \(reason)", at: rp)
                    grant.isLive = false
                    grant.families.forEach { $0.isLive = false }
                }
                let linked = Set(live.map(\.sub)).union(person.absorbed).union(person.swapped[rp.id] ?? [])
                    .subtracting([person.id]).sorted()
                let list = linked.map { "\"\($0)\"" }.joined(separator: ",")
                told.append((rp, "\(first.sub) \(person.id) [\(list)]"))
                expect("user.deleted \(first.sub) \(person.id) [\(list)]", at: rp)
            }
            return told
        }

        private func delete(_ person: Person) {
            #expect(scene.client.send(.deletion(by: person.phone.token)).status == 202)
            person.deletion = endConsents(person, "account_deleted")
            people.removeAll { $0 === person }
            deleted.append(person)
        }

        private func restore(_ person: Person) throws {
            try scene.app.restore(person.id)
            for (rp, known) in person.deletion { expect("user.restored \(known)", at: rp) }
            deleted.removeAll { $0 === person }
            // Nobody opens an anonymous account that has lost its device.
            guard let subject = person.subjects.first else { return }
            person.phone = try scene.person(subject, email: nil)
            #expect(person.phone.userID == person.id)
            people.append(person)
        }

        private func purge(_ person: Person, _ random: inout SplitMix64) throws {
            try scene.app.change("UPDATE users SET purge_at = ? WHERE id = ?", scene.app.time.now, person.id)
            #expect(try scene.app.purge() == person.absorbed.sorted() + [person.id])
            for (rp, known) in person.deletion { expect("user.purged \(known)", at: rp) }
            deleted.removeAll { $0 === person }
            // Their identities are free, and nothing of before comes back.
            guard let subject = person.subjects.randomElement(using: &random) else { return }
            let anew = Person(try scene.person(subject, email: nil))
            anew.subjects = [subject]
            people.append(anew)
        }

        private func prune(_ random: inout SplitMix64) throws {
            guard let person = people.filter(\.subjects.isEmpty).randomElement(using: &random) else { return }
            try scene.app.change(
                "UPDATE users SET last_active_at = ? WHERE id = ?", scene.app.time.now - .seconds(1001 * 86_400),
                person.id)
            #expect(try scene.app.prune(inactiveDays: 1000) == [person.id])
            for (rp, known) in endConsents(person, "pruned") { expect("user.purged \(known)", at: rp) }
            people.removeAll { $0 === person }
        }

        // MARK: Ends

        private func disconnect(_ person: Person, from rp: TestClient) {
            let answer = scene.client.send(
                .delete, "/api/v1/me/connected_apps/\(rp.clientID)", token: person.phone.token)
            let live = person.grants(at: rp).filter(\.isLive)
            let first = person.grant(at: rp)
            #expect(answer.status == (live.isEmpty ? 404 : 204))
            for grant in live {
                expect("token.revoked \(grant.sub) \(person.id) user_disconnected", at: rp)
                expect("consent.revoked \(grant.sub) \(person.id) user_disconnected", at: rp)
                grant.isLive = false
                grant.families.forEach { $0.isLive = false }
            }
            if let first, !live.isEmpty {
                expect("user.grants_revoked \(first.sub) \(person.id) user_disconnected", at: rp)
            }
        }

        private func refresh(_ rp: TestClient, _ family: Family) throws {
            let answer = scene.refresh(family.current, by: rp)
            #expect(answer.status == (family.isLive ? 200 : 400), "\(answer)")
            guard family.isLive else { return }
            family.retired.append(family.current)
            family.current = try Tokens(answer).refresh
        }

        private func reuse(_ person: Person, _ grant: Grant, _ family: Family) {
            guard let retired = family.retired.first else { return }
            // Past the time in which a lost answer is repeated.
            scene.app.time.advance(by: .seconds(31))
            #expect(scene.refresh(retired, by: grant.rp).error == "invalid_grant")
            if family.isLive { expect("token.revoked \(grant.sub) \(person.id) refresh_reuse", at: grant.rp) }
            family.isLive = false
        }

        private func replay(_ person: Person, _ grant: Grant, _ family: Family) {
            #expect(scene.exchange(family.code, by: grant.rp).error == "invalid_grant")
            if family.isLive { expect("token.revoked \(grant.sub) \(person.id) code_replay", at: grant.rp) }
            family.isLive = false
        }

        /// At the relying party's own wish, which it needs no event of.
        private func revoke(_ grant: Grant, _ family: Family) {
            #expect(scene.revoke(family.current, by: grant.rp).status == 200)
            family.isLive = false
        }
    }
}
