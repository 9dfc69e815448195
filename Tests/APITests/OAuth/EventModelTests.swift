import HTTP
import IdentityTokens
import JSON
import MariaDB
import TestSupport
import Testing

/// Random sequences of everything that changes who people are to relying parties, against a small model of what each
/// relying party is told (accounts §3.3).
@Suite struct EventModelTests {
    @Test(arguments: 1...6 as ClosedRange<UInt64>)
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
    }

    private enum Command: CaseIterable {
        case meet, signIn, promote, linkMore, unlink, swap, disconnect, refresh, reuseToken, replayCode, revoke
        case webSignIn

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
        let phone: Phone
        /// Nil: anonymous.
        var subject: String?
        var hasGoogle = false
        var grants: [Grant] = []

        init(_ phone: Phone) { self.phone = phone }

        var id: Int { phone.userID }

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
                    REPLACE(JSON_EXTRACT(raw_payload, '$.data.linked_subs'), ' ', ''),
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

        func run(_ command: Command, _ random: inout SplitMix64) throws {
            scene.app.time.advance(by: .seconds(1))
            let person = people.randomElement(using: &random)
            let rp = rps.randomElement(using: &random) ?? rps[0]
            switch command {
            case .meet: people.append(Person(try scene.anonymous()))
            case .signIn: if let person { try signIn(person, at: rp) }
            case .promote: if let person, person.subject == nil { try promote(person) }
            case .linkMore: if let person, person.subject != nil, !person.hasGoogle { try link(person, "google") }
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
            case .webSignIn: if let person, let subject = person.subject { _ = try scene.signedIn(subject, email: nil) }
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

        private func promote(_ person: Person) throws {
            made += 1
            person.subject = "person \(made)"
            try link(person, "apple")
            for grant in person.grants where grant.isLive {
                expect("user.promoted \(grant.sub) \(person.id)", at: grant.rp)
            }
        }

        private func link(_ person: Person, _ provider: String) throws {
            let subject = person.subject ?? ""
            let proof =
                provider == "apple" ? scene.app.proof(subject) : scene.app.proof(subject + " g", of: .google)
            let answer = scene.client.send(
                .post, "/api/v1/me/connected_identities", proof.adding(["provider": .string(provider)]),
                token: person.phone.token)
            try #require(answer.status == 200, "\(answer)")
            if provider == "google" { person.hasGoogle = true }
        }

        private func unlink(_ person: Person) {
            let path = "/api/v1/me/connected_identities/google"
            #expect(scene.client.send(.delete, path, token: person.phone.token).status == 200)
            person.hasGoogle = false
        }

        private func swap(_ random: inout SplitMix64) throws {
            guard let a = people.filter({ $0.subject == nil }).randomElement(using: &random),
                let b = people.filter({ $0.subject != nil }).randomElement(using: &random)
            else { return }
            let selected = Bool.random(using: &random) ? rps.filter { _ in Bool.random(using: &random) } : rps
            try scene.swap(a.phone, into: b.subject ?? "", rps: selected.map(\.clientID))
            let live = a.grants.filter { grant in
                grant.isLive && selected.contains { $0.id == grant.rp.id }
            }
            let moved = live.filter { grant in !b.grants(at: grant.rp).contains(where: \.isLive) }
            for grant in live where notified.contains(grant.rp.id) {
                expect(#"user.merged \#(a.id) \#(b.id) ["\#(grant.sub)"]"#, at: grant.rp)
            }
            b.grants += moved
            people.removeAll { $0 === a }
        }

        private func disconnect(_ person: Person, from rp: TestClient) {
            let answer = scene.client.send(
                .delete, "/api/v1/me/connected_apps/\(rp.clientID)", token: person.phone.token)
            let live = person.grants(at: rp).filter(\.isLive)
            #expect(answer.status == (live.isEmpty ? 404 : 204))
            for grant in live {
                expect("token.revoked \(grant.sub) \(person.id) user_disconnected", at: rp)
                expect("consent.revoked \(grant.sub) \(person.id) user_disconnected", at: rp)
                grant.isLive = false
                grant.families.forEach { $0.isLive = false }
            }
            if let last = live.last { expect("user.grants_revoked \(last.sub) \(person.id) user_disconnected", at: rp) }
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
