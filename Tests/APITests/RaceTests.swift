import API
import Accounts
import Database
import HTTP
import IdentityTokens
import JSON
import TestSupport
import Testing

/// Concurrent requests on real threads, with a connection each. In any order, the tables are correct, and no client
/// sees a deadlock.
@Suite struct RaceTests {
    let app: TestApp
    let client: Client
    private static let rounds = 25

    init() throws {
        app = try TestApp()
        client = app.client()
    }

    private static let link = "/api/v1/me/connected_identities"

    /// The statuses of each round, sorted.
    private func statuses(_ rounds: [[Answer]]) -> [[Int]] { rounds.map { $0.map(\.status).sorted() } }

    private func isLive(_ token: String?) -> Bool { client.send(.get, "/api/v1/me", token: token).status == 200 }

    /// Checks that each user, device and PAK belongs to one of the answers.
    private func expectCounts(
        users: Int, identities: Int, devices: Int, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let counts = try [
            app.count("SELECT COUNT(*) FROM users"), app.count("SELECT COUNT(*) FROM identities"),
            app.count("SELECT COUNT(*) FROM devices"),
        ]
        #expect(counts == [users, identities, devices], sourceLocation: sourceLocation)
        #expect(app.statistics.exhaustions.value == 0, sourceLocation: sourceLocation)
    }

    // MARK: Bootstrap

    @Test func oneNewDeviceSixteenTimes() throws {
        let rounds = app.race(16, rounds: Self.rounds) { client, thread, round in
            thread % 2 == 0
                ? client.send(.post, "/api/v1/devices", ["device_uuid": .string(uuid(round)), "platform": "ios"])
                : client.send(
                    .post, "/api/v1/auth/anonymous_bootstrap",
                    ["device_id": .string(uuid(round)), "device_platform": "ios"])
        }
        for statuses in statuses(rounds) { #expect(statuses == [200] + Array(repeating: 401, count: 15)) }
        try expectCounts(users: Self.rounds, identities: 0, devices: Self.rounds)
        #expect(try app.count("SELECT COUNT(*) FROM paks") == Self.rounds)
    }

    @Test func oneKnownDeviceSixteenTimes() throws {
        let phones = try (0..<Self.rounds).map { try client.bootstrap($0) }
        let rounds = app.race(16, rounds: Self.rounds) { client, _, round in
            client.send(
                .post, "/api/v1/devices",
                [
                    "device_uuid": .string(phones[round].uuid), "platform": "ios",
                    "device_secret": .string(phones[round].secret),
                ])
        }
        for statuses in statuses(rounds) { #expect(statuses == Array(repeating: 200, count: 16)) }
        let live = try app.column(
            "SELECT CONCAT(COUNT(*)) FROM paks WHERE revoked_at IS NULL GROUP BY device_id ORDER BY device_id")
        #expect(live == Array(repeating: "5", count: Self.rounds))
    }

    /// Phones with five live PAKs each.
    private func fullPhones() throws -> [(phone: Phone, tokens: [String])] {
        try (0..<Self.rounds).map { number in
            let phone = try client.bootstrap(number)
            return (phone, try [phone.token] + (0..<4).map { _ in try client.reopen(phone) })
        }
    }

    /// Checks that no device has more PAKs than it may, and that the audit log tells of each that was issued and of each
    /// that was revoked.
    private func expectAuditedPAKs(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let most = try app.count(
            """
            SELECT MAX(n) FROM (SELECT COUNT(*) n FROM paks WHERE revoked_at IS NULL AND device_id IS NOT NULL
                                GROUP BY device_id) live
            """)
        #expect(most <= 5, sourceLocation: sourceLocation)
        let live = try app.column(
            "SELECT CONCAT(user_id, ': ', SUM(revoked_at IS NULL)) FROM paks GROUP BY user_id ORDER BY user_id")
        let audited = try app.column(
            """
            SELECT CONCAT(user_id, ': ', SUM(IF(action = 'pak.issued', 1, -JSON_VALUE(details, '$.count'))))
            FROM audit_log WHERE action IN ('pak.issued', 'pak.revoked') GROUP BY user_id ORDER BY user_id
            """)
        #expect(live == audited, sourceLocation: sourceLocation)
        #expect(try app.database.connect().livePAKProblems() == [], sourceLocation: sourceLocation)
    }

    @Test func knownDevicesBesideSignOuts() throws {
        let phones = try fullPhones()
        let rounds = app.race(8, rounds: Self.rounds) { client, thread, round in
            let (phone, tokens) = phones[round]
            return thread < 5
                ? client.send(.delete, "/api/v1/auth/session", token: tokens[thread])
                : client.send(.post, "/api/v1/devices", Self.reopening(phone.uuid, phone.secret))
        }
        for answers in rounds {
            #expect(answers[..<5].allSatisfy { [204, 401].contains($0.status) }, "\(answers)")
            #expect(answers[5...].allSatisfy { $0.status == 200 && isLive($0["access_token"]?.string) }, "\(answers)")
        }
        for (_, tokens) in phones { #expect(tokens.allSatisfy { !isLive($0) }) }
        try expectAuditedPAKs()
    }

    @Test func knownDevicesBesideTheirRemoval() throws {
        let phones = try fullPhones()
        for (phone, _) in phones { try app.change("UPDATE users SET anonymous = FALSE WHERE id = ?", phone.userID) }
        let rounds = app.race(6, rounds: Self.rounds) { [app] client, thread, round in
            let (phone, tokens) = phones[round]
            if thread > 0 { return client.send(.post, "/api/v1/devices", Self.reopening(phone.uuid, phone.secret)) }
            do {
                let database = Database(app.database.options, statistics: app.statistics)
                let caller = try database.read { try app.service.accounts.authenticate(tokens[4], $0) }
                let device = try database.read { try $0.listedDevices(of: caller.id)[0].id }
                try Accounts.write(database, from: Origin(requestID: "", address: "")) {
                    try app.service.accounts.removeDevice(device, by: caller, in: $0)
                }
            } catch Failure.invalidToken {
                // Five others were faster, so that the PAK was surplus.
            } catch {
                Issue.record(error)
            }
            return client.send(.get, "/api/v1/me", token: tokens[4])
        }
        for answers in rounds {
            #expect(answers[0].status == 401, "\(answers)")
            #expect(answers[1...].allSatisfy { [200, 401].contains($0.status) }, "\(answers)")
        }
        #expect(try app.count("SELECT COUNT(*) FROM paks WHERE revoked_at IS NULL AND device_id IS NULL") == 0)
        try expectAuditedPAKs()
    }

    // MARK: Session

    @Test func oneNewSubjectSixteenTimes() throws {
        let rounds = app.race(16, rounds: Self.rounds) { [app] client, _, round in
            client.send(.post, "/auth/apple/session", app.proof("\(round)", email: "\(round)@icloud.com"))
        }
        for answers in rounds {
            #expect(answers.allSatisfy { $0.status == 200 }, "\(answers)")
            #expect(Set(answers.map { $0["user"]?["id"]?.integer }).count == 1)
            #expect(answers.allSatisfy { isLive($0["access_token"]?.string) })
        }
        try expectCounts(users: Self.rounds, identities: Self.rounds, devices: 0)
    }

    @Test func oneNewSubjectOnOneNewDevice() throws {
        let rounds = app.race(8, rounds: Self.rounds) { [app] client, _, round in
            client.send(
                .post, "/auth/apple/session",
                app.proof("\(round)").adding(["device_uuid": .string(uuid(round)), "platform": "ios"]))
        }
        for answers in rounds {
            #expect(answers.allSatisfy { $0.status == 200 }, "\(answers)")
            // The last rotation's secret opens the device, and no other.
            let reopened = answers.filter {
                client.send(
                    .post, "/api/v1/devices",
                    Self.reopening($0["device"]?["device_uuid"]?.string, $0["device_secret"]?.string)
                ).status == 200
            }
            #expect(reopened.count == 1)
        }
        try expectCounts(users: Self.rounds, identities: Self.rounds, devices: Self.rounds)
    }

    private static func reopening(_ uuid: String?, _ secret: String?) -> JSONValue {
        ["device_uuid": .string(uuid ?? ""), "platform": "ios", "device_secret": .string(secret ?? "")]
    }

    @Test func oneNewAddressFromBothProviders() throws {
        let app = try TestApp(settings: AccountsSettings(issuer: TestApp.issuer, linkByEmail: .verified))
        let rounds = app.race(8, rounds: Self.rounds) { client, thread, round in
            let provider: Provider = thread % 2 == 0 ? .apple : .google
            return client.send(
                .post, "/auth/\(provider.rawValue)/session",
                app.proof("\(round)", of: provider, email: "ada\(round)@example.com"))
        }
        for answers in rounds {
            #expect(answers.allSatisfy { $0.status == 200 }, "\(answers)")
            #expect(Set(answers.map { $0["user"]?["id"]?.integer }).count == 1)
        }
        #expect(try app.count("SELECT COUNT(*) FROM users") == Self.rounds)
        #expect(try app.count("SELECT COUNT(*) FROM identities") == 2 * Self.rounds)
    }

    @Test func twoUsersTakeOneDevice() throws {
        let owners = try (0..<Self.rounds).map { try client.bootstrap($0) }
        let rounds = app.race(2, rounds: Self.rounds) { [app] client, thread, round in
            client.send(
                .post, "/auth/apple/session",
                app.proof("\(thread)").adding([
                    "device_uuid": .string(owners[round].uuid), "platform": "ios",
                    "device_secret": .string(owners[round].secret),
                ]))
        }
        for (answers, owner) in zip(rounds, owners) {
            #expect(statuses([answers]) == [[200, 409]], "\(answers)")
            #expect(isLive(owner.token))
        }
    }

    // MARK: Link

    @Test(arguments: [true, false])
    func oneSubjectByTwoCallers(anonymous: Bool) throws {
        let callers = try (0..<2 * Self.rounds).map { number in
            anonymous
                ? try client.bootstrap(number)
                : try client.signIn(app.proof("\(number)", of: .google), with: "google", on: number)
        }
        let rounds = app.race(2, rounds: Self.rounds) { [app] client, thread, round in
            client.send(
                .post, Self.link, app.proof("\(round)").adding(["provider": "apple"]),
                token: callers[2 * round + thread].token)
        }
        for answers in rounds {
            #expect(statuses([answers]) == [[200, 409]], "\(answers)")
            // The loser may swap into the winner, if there is anything to swap.
            #expect((answers.first { $0.status == 409 }?["swap_ticket"] != nil) == anonymous)
        }
        try expectCounts(
            users: 2 * Self.rounds, identities: (anonymous ? 1 : 3) * Self.rounds, devices: 2 * Self.rounds)
    }

    @Test func twoSubjectsByOneCaller() throws {
        let callers = try (0..<Self.rounds).map { try client.bootstrap($0) }
        let rounds = app.race(4, rounds: Self.rounds) { [app] client, thread, round in
            client.send(
                .post, Self.link, app.proof("\(round) \(thread % 2)").adding(["provider": "apple"]),
                token: callers[round].token)
        }
        for answers in rounds {
            #expect(statuses([answers]) == [[200, 200, 422, 422]], "\(answers)")
            #expect(Set(answers.compactMap(\.error)) == ["provider_already_connected"])
        }
        try expectCounts(users: Self.rounds, identities: Self.rounds, devices: Self.rounds)
    }

    @Test func promotionMeetsASessionOfItsSubject() throws {
        let callers = try (0..<Self.rounds).map { try client.bootstrap($0) }
        let rounds = app.race(2, rounds: Self.rounds) { [app] client, thread, round in
            let proof = app.proof("\(round)", email: "\(round)@icloud.com")
            return thread == 0
                ? client.send(.post, Self.link, proof.adding(["provider": "apple"]), token: callers[round].token)
                : client.send(.post, "/auth/apple/session", proof)
        }
        for (answers, caller) in zip(rounds, callers) {
            let (link, session) = (answers[0], answers[1])
            #expect(session.status == 200, "\(session)")
            let isCaller = session["user"]?["id"]?.integer == caller.userID
            #expect(link.status == (isCaller ? 200 : 409), "\(link)")
            #expect(isLive(caller.token) && isLive(session["access_token"]?.string))
        }
        #expect(try app.count("SELECT COUNT(*) FROM identities") == Self.rounds)
    }

    @Test func promotionMeetsABootstrapOfItsDevice() throws {
        let callers = try (0..<Self.rounds).map { try client.bootstrap($0) }
        let rounds = app.race(4, rounds: Self.rounds) { [app] client, thread, round in
            thread == 0
                ? client.send(
                    .post, Self.link, app.proof("\(round)").adding(["provider": "apple"]), token: callers[round].token)
                : client.send(.post, "/api/v1/devices", Self.reopening(callers[round].uuid, callers[round].secret))
        }
        for (answers, caller) in zip(rounds, callers) {
            #expect(statuses([answers]) == [[200, 200, 200, 200]], "\(answers)")
            // A PAK made before the promotion died in it, one made after it lives.
            for bootstrap in answers.dropFirst() {
                let isAnonymous = bootstrap["user"]?["anonymous"] == true
                #expect(isLive(bootstrap["access_token"]?.string) == !isAnonymous)
            }
            #expect(isLive(caller.token))
        }
        try expectCounts(users: Self.rounds, identities: Self.rounds, devices: Self.rounds)
    }

    // MARK: Unlink

    private func twoIdentities(_ number: Int) throws -> Phone {
        let phone = try client.signIn(app.proof("\(number)"), on: number)
        let google = app.proof("\(number)", of: .google).adding(["provider": "google"])
        try #require(client.send(.post, Self.link, google, token: phone.token).status == 200)
        return phone
    }

    @Test func bothIdentitiesAreUnlinkedAtOnce() throws {
        let callers = try (0..<Self.rounds).map(twoIdentities)
        let rounds = app.race(2, rounds: Self.rounds) { client, thread, round in
            client.send(.delete, Self.link + (thread == 0 ? "/apple" : "/google"), token: callers[round].token)
        }
        for answers in rounds {
            #expect(statuses([answers]) == [[200, 422]], "\(answers)")
            #expect(answers.compactMap(\.error) == ["last_identity"])
        }
        #expect(try app.count("SELECT COUNT(*) FROM identities") == Self.rounds)
    }

    @Test func unlinkMeetsLink() throws {
        let callers = try (0..<Self.rounds).map(twoIdentities)
        let rounds = app.race(2, rounds: Self.rounds) { [app] client, thread, round in
            thread == 0
                ? client.send(.delete, Self.link + "/google", token: callers[round].token)
                : client.send(
                    .post, Self.link, app.proof("new \(round)", of: .google).adding(["provider": "google"]),
                    token: callers[round].token)
        }
        for (answers, caller) in zip(rounds, callers) {
            #expect(answers[0].status == 200, "\(answers)")
            let wasLinked = answers[1].status == 200
            #expect(wasLinked || "\(answers[1])" == refusal(422, "provider_already_connected"))
            let subjects = try app.column("SELECT sub FROM identities WHERE user_id = ?", caller.userID)
            #expect(subjects.count == (wasLinked ? 2 : 1))
        }
    }

    // MARK: The end of a session

    @Test func aSessionEndsWhileItIsUsed() throws {
        let callers = try (0..<Self.rounds).map { try client.bootstrap($0) }
        let rounds = app.race(4, rounds: Self.rounds) { client, thread, round in
            thread < 2
                ? client.send(.delete, "/api/v1/auth/session", token: callers[round].token)
                : client.send(.patch, "/api/v1/me", ["name": "Ada"], token: callers[round].token)
        }
        for answers in rounds {
            #expect(statuses([Array(answers[..<2])]) == [[204, 401]], "\(answers)")
            #expect(answers[2...].allSatisfy { [200, 401].contains($0.status) }, "\(answers)")
        }
    }
}
