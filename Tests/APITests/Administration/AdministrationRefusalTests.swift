import HTTP
import JSON
import Testing

@testable import API

/// Who is kept out of administration: every route is asked, as the route table has it (accounts §4.7).
@Suite struct AdministrationRefusalTests {
    let admin: AdministrationScene
    let scene: OAuthScene

    init() throws {
        admin = try AdministrationScene()
        scene = admin.scene
    }

    private var app: TestApp { admin.app }

    private static let json = Routes.all.filter { $0.pattern.hasPrefix("/api/v1/admin") }

    private static let pages = Routes.all.filter { $0.pattern.hasPrefix("/admin") }

    private func path(_ route: Route) -> String { route.pattern.replacing(/\{[a-z_]+\}/, with: "1") }

    @Test func theTableHasNothingElseForAdministrators() {
        #expect(Self.json.count == 9 && Self.pages.count == 19)
        for route in Routes.all {
            let isForAdministrators = route.pattern.contains(/(?:^|\/)admin(?:\/|$)/)
            switch route.requirement {
            case .administratorPAK: #expect(isForAdministrators && route.method == .get, "\(route.pattern)")
            case .administratorSession: #expect(isForAdministrators && route.isPage, "\(route.pattern)")
            default: #expect(!isForAdministrators, "\(route.pattern)")
            }
        }
    }

    @Test func onlyAdministratorsReadJSON() throws {
        let (user, developer, anonymous) = (
            try scene.person("user"), try scene.person("developer", email: "dev@example.com"), try scene.anonymous()
        )
        try app.change("UPDATE users SET role = 'developer' WHERE id = ?", developer.userID)
        for route in Self.json {
            func send(_ token: String?) -> Answer { admin.client.send(route.method, path(route), token: token) }
            try app.expectUnchanged {
                for token in [nil, "lpk_live_x", user.secret] {
                    #expect("\(send(token))" == refusal(401, "invalid_token"), "\(route.pattern)")
                }
            }
            for phone in [user, developer, anonymous] {
                #expect("\(send(phone.token))" == refusal(403, "admin_required"), "\(route.pattern)")
            }
        }
        // An anonymous administrator cannot be, but a PAK for one application, or without the scope, may be one's.
        let full = try #require(
            try app.column("SELECT scopes FROM paks WHERE user_id = ?", admin.administrator.userID).first)
        for (scopes, application) in [("profile:read", Int?.none), (full, try app.makeApplication())] {
            try app.change(
                "UPDATE paks SET scopes = ?, application_id = ? WHERE user_id = ?", scopes, application,
                admin.administrator.userID)
            for route in Self.json {
                let answer = admin.client.send(route.method, path(route), token: admin.administrator.token)
                #expect(answer.error == "insufficient_scope" && answer.status == 403, "\(route.pattern)")
            }
        }
    }

    @Test func onlyAdministratorsSeePages() throws {
        let (user, developer) = (
            try scene.signedIn("user", email: "user@example.com"),
            try scene.signedIn("developer", email: "dev@example.com")
        )
        try app.change("UPDATE users SET role = 'developer' WHERE contact_email = 'dev@example.com'")
        let stranger = TestBrowser(app)
        let json = [(name: "accept", value: "application/json")]
        for route in Self.pages {
            let path = path(route)
            let sentAway = stranger.send(route.method, path)
            #expect(sentAway.status == 303, "\(route.pattern)")
            #expect(sentAway.header("Location")?.hasPrefix("/oauth/login?request=") == true, "\(route.pattern)")
            #expect("\(stranger.send(route.method, path, headers: json))" == refusal(401, "invalid_token"))
            try app.expectUnchanged {
                for browser in [user, developer] {
                    let page = browser.send(route.method, path)
                    #expect(
                        page.status == 403 && page.header("Content-Type")?.hasPrefix("text/html") == true,
                        "\(route.pattern)")
                    #expect("\(browser.send(route.method, path, headers: json))" == refusal(403, "admin_required"))
                }
                // An administrator's PAK opens no page, and no cookie opens the JSON.
                let byPAK = admin.client.send(route.method, path, token: admin.administrator.token, headers: json)
                #expect("\(byPAK)" == refusal(401, "invalid_token"), "\(route.pattern)")
            }
        }
        for route in Self.json {
            #expect("\(user.send(route.method, path(route)))" == refusal(401, "invalid_token"), "\(route.pattern)")
        }
    }

    @Test func whoWasAnAdministratorIsNoneAnyMore() throws {
        #expect(admin.read("keys").status == 200)
        try app.change("UPDATE users SET role = 'developer' WHERE id = ?", admin.administrator.userID)
        #expect("\(admin.read("keys"))" == refusal(403, "admin_required"))
    }
}
