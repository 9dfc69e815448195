import HTTP
import JSON
import Testing

/// `GET` and `PATCH /api/v1/me`, `GET /api/v1/me/connected_apps` (accounts §1.7).
@Suite struct ProfileTests {
    let app: TestApp
    let client: Client
    let phone: Phone

    init() throws {
        app = try TestApp()
        client = app.client()
        phone = try client.bootstrap()
    }

    private func patch(_ body: JSONValue) -> Answer {
        client.send(.patch, "/api/v1/me", body, token: phone.token)
    }

    @Test func twoHundredCharactersAreEnough() throws {
        let fits: JSONValue = .string(String(repeating: "👩", count: 200))
        let tooLong: JSONValue = .string(String(repeating: "x", count: 201))
        for member in ["name", "nickname"] {
            #expect(patch([member: fits])["user"]?[member] == fits)
        }
        try app.expectUnchanged {
            for member in ["name", "nickname", "contact_email"] {
                #expect("\(patch(["name": "new", member: tooLong]))" == refusal(400, "invalid_request"), "\(member)")
            }
        }
    }

    @Test(arguments: [
        "a\u{0}", "\u{1}", "a\nb", "a\tb", "\u{7F}", "\u{85}", "\u{9F}", "\u{202A}", "\u{202E}adA", "\u{2066}a\u{2069}",
    ])
    func aNameHasNothingThatChangesTheTextAround(_ name: String) throws {
        try app.expectUnchanged {
            for member in ["name", "nickname"] {
                let answer = patch(["contact_email": "new@example.com", member: .string(name)])
                #expect("\(answer)" == refusal(400, "invalid_request"), "\(member)")
            }
        }
    }

    @Test(arguments: ["محمد\u{200F} 2", "👩‍👩‍👧‍👦", "Zoe\u{308}", "a\u{A0}b"])
    func aNameMayBeWrittenInAnyScript(_ name: String) {
        #expect(patch(["name": .string(name)])["user"]?["name"] == .string(name))
    }

    @Test func aBadAddressIsRefused() throws {
        try app.expectUnchanged {
            for address in [
                "", " ", "ada", "ada@", "@example.com", "a b@example.com", "ada@device.internal", "a@b@c.d",
            ] {
                let answer = patch(["name": "new", "contact_email": .string(address)])
                #expect("\(answer)" == refusal(422, "invalid_contact_email"), "\(address)")
            }
        }
    }

    @Test func importedSyntheticAddressesAreNotShown() throws {
        try app.change("UPDATE users SET contact_email = 'ada@Device.Internal'")
        #expect(client.send(.get, "/api/v1/me", token: phone.token)["user"]?["contact_email"] == .null)
        #expect(patch(["name": "Ada"])["user"]?["contact_email"] == .null)
    }

    // MARK: Connected apps

    @Test func connectedAppsAreLiveGrantsNewestFirst() throws {
        let apps = "/api/v1/me/connected_apps"
        #expect(client.send(.get, apps, token: phone.token).text == #"{"connected_apps":[]}"#)
        let other = try client.bootstrap(2)
        let grants: [(name: String, user: Int, createdAt: String, revoked: Bool)] = [
            ("old", phone.userID, "2026-05-01 07:00:00", false), ("new", phone.userID, "2026-05-03 07:00:00", false),
            ("revoked", phone.userID, "2026-05-04 07:00:00", true),
            ("other", other.userID, "2026-05-05 07:00:00", false),
            ("상점", phone.userID, "2026-05-02 07:00:00.999", false),
        ]
        for (number, grant) in grants.enumerated() {
            try app.change(
                """
                INSERT INTO grants (user_id, application_id, sub, scopes, created_at, last_used_at, revoked_at)
                VALUES (?, ?, 'sub', 'openid email', ?, IF(? = 'new', '2026-05-06', NULL), IF(?, NOW(), NULL))
                """, grant.user, try app.makeApplication("logi_\(number)", name: grant.name), grant.createdAt,
                grant.name,
                grant.revoked)
        }
        #expect(
            client.send(.get, apps, token: phone.token).text == """
                {"connected_apps":[\
                {"client_id":"logi_1","name":"new","scopes":["openid","email"],"granted_at":"2026-05-03T07:00:00Z",\
                "last_used_at":"2026-05-06T00:00:00Z"},\
                {"client_id":"logi_4","name":"상점","scopes":["openid","email"],"granted_at":"2026-05-02T07:00:00Z",\
                "last_used_at":null},\
                {"client_id":"logi_0","name":"old","scopes":["openid","email"],"granted_at":"2026-05-01T07:00:00Z",\
                "last_used_at":null}]}
                """)
    }
}
