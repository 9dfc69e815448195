import HTTP
import JSON
import TestSupport
import Testing

/// GET /oauth/subs/{sub} (accounts §2.9).
@Suite struct SubLookupTests {
    let scene: OAuthScene
    let rp: TestClient

    init() throws {
        scene = try OAuthScene()
        rp = try scene.register(confidential: true, anonymous: true)
    }

    private func answer(
        _ sub: Int, _ canonical: Int, _ linked: [Int], via: JSONValue = .null, at time: JSONValue = .null
    ) -> JSONValue {
        [
            "sub": .string("\(sub)"), "canonical_sub": .string("\(canonical)"), "is_canonical": .bool(sub == canonical),
            "linked_subs": .array(linked.map { .string("\($0)") }), "merged_via": via, "occurred_at": time,
        ]
    }

    private func expectUnknown(_ sub: String, at other: TestClient? = nil) throws {
        #expect(try scene.sub(sub, at: other ?? rp).oauthRefusal() == "404 unknown_sub", "\(sub)")
    }

    @Test func aSubOfItsOwnStandsForItself() throws {
        let person = try scene.person()
        try expectUnknown("\(person.userID)")
        _ = try scene.signIn(rp, as: person)
        let found = scene.sub("\(person.userID)", at: rp)
        #expect(found.json == answer(person.userID, person.userID, []))
        #expect(found.names == ["sub", "canonical_sub", "is_canonical", "linked_subs", "merged_via", "occurred_at"])
        #expect(found.header("Cache-Control") == "no-store")
        try expectUnknown("\(person.userID)", at: try scene.register(confidential: true))
        for other in ["0", "0\(person.userID)", "x", "é", "%20", "\(person.userID)%20"] { try expectUnknown(other) }
    }

    @Test(arguments: [false, true]) func aSwappedSubResolvesForEver(isDuplicate: Bool) throws {
        let (a, b) = (try scene.anonymous(), try scene.person("bea"))
        _ = try scene.signIn(rp, as: a)
        if isDuplicate { _ = try scene.signIn(rp, as: b) }
        scene.app.time.advance(by: .seconds(60))
        try scene.swap(a, into: "bea")
        #expect(
            scene.sub("\(a.userID)", at: rp).json
                == answer(a.userID, b.userID, [a.userID], via: "anonymous_swap", at: "2026-05-12T07:01:00Z"))
        if isDuplicate {
            #expect(scene.sub("\(b.userID)", at: rp).json == answer(b.userID, b.userID, [a.userID]))
        } else {
            try expectUnknown("\(b.userID)")
        }
    }

    @Test func anUnselectedSubIsForgotten() throws {
        let a = try scene.anonymous()
        _ = try scene.person("bea")
        _ = try scene.signIn(rp, as: a)
        try scene.swap(a, into: "bea", rps: [])
        try expectUnknown("\(a.userID)")
    }

    @Test func aMergedSubNamesItsSurvivor() throws {
        let (a, b) = (try scene.person("ada"), try scene.person("bea"))
        for person in [a, b] { _ = try scene.signIn(rp, as: person) }
        try scene.merge(a.userID, into: b.userID)
        try scene.app.change("UPDATE identity_links SET created_at = '2026-05-27 09:14:22.999'")
        #expect(
            scene.sub("\(a.userID)", at: rp).json
                == answer(a.userID, b.userID, [a.userID], via: "t1_device_link", at: "2026-05-27T09:14:22Z"))
        #expect(scene.sub("\(b.userID)", at: rp).json == answer(b.userID, b.userID, [a.userID]))
    }

    @Test func aRevokedGrantWasHeld() throws {
        let person = try scene.person()
        _ = try scene.signIn(rp, as: person)
        try scene.app.change("UPDATE grants SET revoked_at = NOW(3)")
        #expect(scene.sub("\(person.userID)", at: rp).status == 200)
    }

    @Test func aDeletedAccountIsGone() throws {
        let (a, b) = (try scene.anonymous(), try scene.person("bea"))
        for person in [a, b] { _ = try scene.signIn(rp, as: person) }
        try scene.swap(a, into: "bea")
        try scene.app.change("UPDATE users SET deleted_at = NOW(3) WHERE id = ?", b.userID)
        try expectUnknown("\(a.userID)")
        try expectUnknown("\(b.userID)")
    }

    @Test func onlyConfidentialClientsByBasicMayAsk() throws {
        let person = try scene.person()
        let open = try scene.register()
        let token = try scene.signIn(rp, as: person).access
        let path = "/oauth/subs/\(person.userID)"
        func refusal(_ path: String, _ authorization: String?) throws -> String {
            let answer = scene.client.send(
                .get, path, headers: authorization.map { [("authorization", $0)] } ?? [])
            return try answer.oauthRefusal()
        }
        for authorization in [
            nil, "Bearer \(token)", basic(rp.clientID, "wrong"), basic(rp.clientID, ""), basic(open.clientID, ""),
            basic("logi_unknown", "x"), "Basic %", "Basic",
        ] {
            #expect(try refusal(path, authorization) == "401 invalid_client", "\(authorization ?? "none")")
        }
        #expect(
            try refusal("\(path)?client_id=\(rp.clientID)&client_secret=\(rp.secret ?? "")", nil)
                == "401 invalid_client")
    }
}
