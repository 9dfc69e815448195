import HTTP
import IdentityTokens
import JOSE
import JSON
import TestSupport
import Testing
import Time

/// What everybody is told of two accounts right after their merge, by every instance (accounts §3.2).
@Suite struct MergedPersonTests {
    let scene: OAuthScene
    let app: TestApp
    let rp: TestClient
    let survivor: Phone
    let absorbed: Phone

    init() throws {
        scene = try OAuthScene()
        app = scene.app
        rp = try scene.register(confidential: true, anonymous: true)
        try app.change("UPDATE applications SET linked_sub_details = TRUE")
        survivor = try scene.person("bea", email: "bea@example.com")
        absorbed = try scene.person("ada", email: "ada@icloud.com")
    }

    private func merge() throws {
        let token = scene.client.send(.post, "/api/v1/me/merge/session-token", token: absorbed.token)["session_token"]
        let answer = scene.client.send(
            .post, "/api/v1/me/merge", ["target_session_token": token ?? .null], token: survivor.token)
        try #require(answer.status == 200, "\(answer)")
    }

    /// The claims of the absorbed account's grant and of the survivor's own.
    private func expectMerged(_ claims: JSONValue?, isOwn: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
        let sub = isOwn ? survivor.userID : absorbed.userID
        #expect(claims?["sub"] == .string("\(sub)"), sourceLocation: sourceLocation)
        #expect(claims?["canonical_sub"] == .string("\(survivor.userID)"), sourceLocation: sourceLocation)
        #expect(claims?["is_canonical"] == .bool(isOwn), sourceLocation: sourceLocation)
        #expect(claims?["linked_subs"] == [.string("\(absorbed.userID)")], sourceLocation: sourceLocation)
        #expect(claims?["email"] == "bea@example.com", sourceLocation: sourceLocation)
    }

    @Test func relyingPartiesAreToldAtOnce() throws {
        let (own, others) = (try scene.signIn(rp, as: survivor), try scene.signIn(rp, as: absorbed))
        // Another instance has seen both tokens before.
        let instance = try TestApp(database: app.database, time: app.time).client()
        for tokens in [own, others] { #expect(scene.userInfo(tokens.access, with: instance).status == 200) }
        try merge()
        for (tokens, isOwn) in [(own, true), (others, false)] {
            for client in [instance, scene.client] {
                expectMerged(scene.userInfo(tokens.access, with: client).json, isOwn: isOwn)
            }
            for token in [tokens.access, tokens.refresh] {
                let introspected = scene.introspect(token, by: rp)
                #expect(introspected["active"] == true)
                #expect(introspected["canonical_sub"] == .string("\(survivor.userID)"))
            }
            // A refresh token goes on working, and its claims are the survivor's.
            let next = try Tokens(scene.refresh(tokens.refresh, by: rp, with: instance))
            expectMerged(try payload(of: try #require(next.id)), isOwn: isOwn)
        }
        let found = scene.sub("\(absorbed.userID)", at: rp)
        #expect(found["canonical_sub"] == .string("\(survivor.userID)"))
        #expect(found["merged_via"] == "session_token")
        #expect(found["occurred_at"] == .string(app.time.now.iso8601))
    }

    /// Whether somebody has merged accounts is a mark beside the rows. Nobody sees one without the other.
    @Test func readersSeeAMergeWholeOrNotAtAll() throws {
        let tokens = [try scene.signIn(rp, as: survivor).access, try scene.signIn(rp, as: absorbed).access]
        let key = scene.client.send(.post, "/api/v1/me/merge/session-token", token: absorbed.token)["session_token"]
        let merge: JSONValue = ["target_session_token": key ?? .null]
        func read(_ client: Client) -> [String] {
            tokens.map { client.send(.get, "/oauth/userinfo", token: $0).text }
        }
        let before = read(scene.client)
        let answers = app.atOnce(4) { [survivor] client, thread -> [[String]] in
            if thread > 0 {
                return (0..<50).map { _ in
                    tokens.map { client.send(.get, "/oauth/userinfo", token: $0).text }
                }
            }
            return [["\(client.send(.post, "/api/v1/me/merge", merge, token: survivor.token).status)"]]
        }
        #expect(answers[0] == [["200"]])
        let after = read(scene.client)
        for (index, (old, new)) in zip(before, after).enumerated() {
            #expect(old != new)
            let seen = answers.dropFirst().map { reads in reads.map { $0[index] } }
            for reads in seen {
                #expect(Set(reads).isSubset(of: [old, new]))
                // Once it is seen, it stays.
                #expect(reads.drop { $0 == old }.allSatisfy { $0 == new })
            }
        }
    }

    @Test func detailsNameTheEvent() throws {
        let own = try scene.signIn(rp, as: survivor)
        _ = try scene.signIn(rp, as: absorbed)
        let untold = try scene.register(confidential: true)
        try app.change("UPDATE applications SET linked_sub_details = TRUE")
        let atUntold = try scene.signIn(untold, as: survivor)
        try merge()
        func details(_ event: JSONValue) -> JSONValue {
            [
                [
                    "sub": .string("\(absorbed.userID)"), "merged_canonical_sub": .string("\(absorbed.userID)"),
                    "merged_via": "session_token", "occurred_at": .string(app.time.now.iso8601),
                    "source_event_id": event,
                ]
            ]
        }
        let event = try #require(try app.column("SELECT event_id FROM webhook_outbox").first)
        #expect(scene.userInfo(own.access)["linked_sub_details"] == details(.string(event)))
        #expect(scene.userInfo(atUntold.access)["linked_sub_details"] == details(.null))
    }

    @Test func peopleActAsTheSurvivor() throws {
        try merge()
        let client = try TestApp(database: app.database, time: app.time).client()
        func user(_ token: String?) -> Int? {
            client.send(.get, "/api/v1/me", token: token)["user"]?["id"]?.integer
        }
        #expect(client.send(.get, "/api/v1/me", token: absorbed.token).status == 401)
        #expect(user(survivor.token) == survivor.userID)
        // The keychain's secret, the identity, and another identity with the same address.
        #expect(user(try client.reopen(absorbed)) == survivor.userID)
        let session = client.send(.post, "/api/v1/auth/apple/session", app.proof("ada"))
        #expect(session["user"]?["id"]?.integer == survivor.userID)
        let byEmail = client.send(
            .post, "/api/v1/auth/google/session",
            app.proof("new", of: .google, email: "ada@icloud.com", extra: ["hd": "icloud.com"]))
        #expect(byEmail["user"]?["id"]?.integer == survivor.userID)
        let identities = client.send(.get, "/api/v1/me/connected_identities", token: survivor.token)
        #expect(identities["connected_identities"]?.array?.count == 3)
    }

    @Test func connectedAppsAreThoseOfBoth() throws {
        let second = try scene.register("Second")
        _ = try scene.signIn(rp, as: survivor)
        for client in [rp, second] { _ = try scene.signIn(client, as: absorbed) }
        try merge()
        let apps = scene.client.send(.get, "/api/v1/me/connected_apps", token: survivor.token)["connected_apps"]
        #expect(apps?.array?.count == 3)
        // All of its grants end together.
        let ended = scene.client.send(
            .delete, "/api/v1/me/connected_apps/\(rp.clientID)", token: survivor.token)
        #expect(ended.status < 300, "\(ended)")
        let live = try app.column("SELECT CONCAT(application_id) FROM grants WHERE revoked_at IS NULL")
        #expect(live == ["\(second.id)"])
    }

    @Test func aRefreshMeetsTheMerge() throws {
        let rounds = 10
        var people: [(survivor: Phone, absorbed: Phone, tokens: Tokens, token: JSONValue)] = []
        for round in 0..<rounds {
            let (survivor, absorbed) = (try scene.person("s\(round)"), try scene.person("a\(round)"))
            let token = scene.client.send(.post, "/api/v1/me/merge/session-token", token: absorbed.token)
            people.append(
                (survivor, absorbed, try scene.signIn(rp, as: absorbed), try #require(token["session_token"])))
        }
        let merges = people.map {
            RepeatableRequest(
                method: .post, path: "/api/v1/me/merge", body: ["target_session_token": $0.token],
                token: $0.survivor.token)
        }
        let refreshes = people.map { scene.form("/oauth/token", scene.refreshForm($0.tokens.refresh), as: rp) }
        let results = app.race(5, rounds: rounds) { client, thread, round in
            thread == round % 5 ? client.send(merges[round]) : client.send(refreshes[round])
        }
        for (round, answers) in results.enumerated() {
            #expect(answers.allSatisfy { $0.status == 200 }, "\(answers)")
            let refreshed = answers.enumerated().filter { $0.offset != round % 5 }.map(\.element)
            #expect(Set(refreshed.map(\.text)).count == 1)
            let next = try Tokens(scene.refresh(try Tokens(refreshed[0]).refresh, by: rp))
            #expect(try next.idClaims["sub"] == .string("\(people[round].absorbed.userID)"))
            #expect(try next.idClaims["canonical_sub"] == .string("\(people[round].survivor.userID)"))
        }
    }
}
