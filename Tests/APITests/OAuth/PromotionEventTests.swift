import HTTP
import IdentityTokens
import JSON
import Testing

/// `user.promoted`, by whatever way an anonymous account becomes an identified one in place (accounts §3.3).
@Suite struct PromotionEventTests {
    let scene: OAuthScene
    let app: TestApp
    let phone: Phone
    let shops: [TestClient]

    init() throws {
        let scene = try OAuthScene()
        self.scene = scene
        app = scene.app
        phone = try scene.anonymous()
        shops = try (1...3).map { try scene.register("Shop \($0)", anonymous: true) }
        // In another order than they were registered in. The last one was left again.
        for shop in [shops[1], shops[2], shops[0]] { _ = try scene.signIn(shop, as: phone) }
        let path = "/api/v1/me/connected_apps/\(shops[2].clientID)"
        try #require(scene.client.send(.delete, path, token: phone.token).status == 204)
        try app.change("DELETE FROM webhook_outbox")
        // Of somebody else.
        _ = try scene.signIn(shops[0], as: scene.anonymous())
    }

    private func events() throws -> [String] {
        try app.column(
            """
            SELECT CONCAT_WS(' ', application_id, event_type, JSON_EXTRACT(raw_payload, '$.data'))
            FROM webhook_outbox ORDER BY id
            """)
    }

    private func expectTold(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let data = #"{"canonical_sub": "\#(phone.userID)", "sub": "\#(phone.userID)"}"#
        #expect(
            try events().map { $0.replacing(": ", with: ":").replacing(", ", with: ",") }
                == shops.prefix(2).map {
                    "\($0.id) user.promoted \(data)".replacing(": ", with: ":").replacing(", ", with: ",")
                },
            sourceLocation: sourceLocation)
    }

    /// As imports may have left it: an anonymous account that an identity opens.
    private func giveIdentity(_ subject: String) throws {
        try app.change("INSERT INTO identities (user_id, provider, sub) VALUES (?, 'apple', ?)", phone.userID, subject)
    }

    @Test func byALink() throws {
        try scene.promote(phone)
        try expectTold()
        // Who is identified is not promoted again.
        let answer = scene.client.send(
            .post, "/api/v1/me/connected_identities", app.proof("more", of: .google).adding(["provider": "google"]),
            token: phone.token)
        #expect(answer.status == 200)
        try expectTold()
    }

    @Test func byASession() throws {
        try giveIdentity("x")
        for number in 1...2 {
            #expect(try scene.client.signIn(app.proof("x"), on: number).userID == phone.userID)
            try expectTold()
        }
    }

    @Test func byASignInOnTheWeb() throws {
        try giveIdentity("x")
        _ = try scene.signedIn("x")
        try expectTold()
    }

    @Test func notByARefusedLink() throws {
        _ = try scene.person("taken")
        let answer = scene.client.send(
            .post, "/api/v1/me/connected_identities", app.proof("taken").adding(["provider": "apple"]),
            token: phone.token)
        #expect(answer.status == 409)
        #expect(try events() == [])
    }
}
