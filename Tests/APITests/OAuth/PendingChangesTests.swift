import API
import Accounts
import HTTP
import JSON
import Testing

/// Changes that developers make to applications which users may already trust (accounts §2.1).
@Suite struct PendingChangesTests {
    let scene: OAuthScene
    let app: TestApp
    let developer: Phone
    let clientID: String
    private static let redirectURI = "com.example.notes://callback"

    init() throws {
        scene = try OAuthScene()
        app = scene.app
        developer = try scene.developer()
        clientID = try scene.create(by: developer)
        try app.change("UPDATE applications SET status = 'active'")
    }

    private var rules: ApprovedChanges.Rules { app.service.accounts.settings.applicationRules }

    private func patch(_ members: JSONValue) -> Answer { scene.patch(clientID, members, by: developer) }

    private func application() throws -> RegisteredApplication {
        try #require(try app.sql { try $0.registeredApplication(clientID) })
    }

    @discardableResult
    private func approve(_ revision: String?, by rules: ApprovedChanges.Rules? = nil) throws -> RegisteredApplication {
        try app.operate { try $0.approveApplication(clientID, revision: revision, by: rules ?? self.rules) }
    }

    @discardableResult
    private func refuse(_ revision: String) throws -> RegisteredApplication {
        try app.operate { try $0.refuseChanges(of: clientID, revision: revision) }
    }

    private func expectRefused(
        _ reason: String, sourceLocation: SourceLocation = #_sourceLocation, _ operation: () throws -> Void
    ) throws {
        try app.expectUnchanged(sourceLocation: sourceLocation) {
            #expect(sourceLocation: sourceLocation) {
                try operation()
            } throws: {
                ($0 as? RefusedOperation)?.description.contains(reason) == true
            }
        }
    }

    /// An authorize request that is refused before anybody is asked, or not.
    private func authorize(_ redirectURI: String = redirectURI, scope: String = "openid") -> Answer {
        let rp = TestClient(id: 0, clientID: clientID, secret: nil, redirectURI: redirectURI)
        return scene.authorize(rp, as: developer, scope: scope)
    }

    private let everything: JSONValue = [
        "name": "Evil Notes", "redirect_uris": ["https://evil.example/cb"],
        "post_logout_redirect_uris": ["https://evil.example/bye"], "allowed_scopes": ["openid", "phone"],
        "app_link_url": "https://evil.example/",
    ]

    // MARK: What waits

    @Test(arguments: ["active", "suspended"]) func theValuesSoFarServe(status: String) throws {
        try app.change("UPDATE applications SET status = ?", status)
        let before = scene.show(clientID, to: developer)
        #expect(before["pending_changes"] == nil)
        let answer = patch(everything)
        #expect(answer.status == 200 && answer["pending_changes"] == everything, "\(answer)")
        for member in [
            "name", "redirect_uris", "post_logout_redirect_uris", "allowed_scopes", "app_link_url", "status",
        ] {
            #expect(answer[member] == before[member], "\(member)")
        }
        #expect(scene.show(clientID, to: developer).json == answer.json)
        let listed = scene.client.send(.get, OAuthScene.applications, token: developer.token)
        #expect(listed["applications"]?.array == [answer.json])

        try app.change("UPDATE applications SET status = 'active'")
        #expect(authorize().status == 200)
        #expect(authorize("https://evil.example/cb").error == "invalid_request")
        #expect(authorize(scope: "phone").error == "invalid_scope")
        let query = String(
            decoding: encoded([
                ("client_id", clientID), ("redirect_uri", "https://evil.example/cb"), ("format", "json"),
            ]), as: UTF8.self)
        #expect(
            scene.client.send(.get, "/diagnose?\(query)")["checks"]?.array?.contains {
                $0["id"] == "redirect_unregistered" && $0["status"] == "fault"
            } == true)
        let rp = TestClient(id: 0, clientID: clientID, secret: nil, redirectURI: Self.redirectURI)
        let preview = scene.client.send(
            .get,
            "/api/v1/oauth/authorize/preview?" + String(decoding: encoded(scene.parameters(rp)), as: UTF8.self),
            token: developer.token)
        #expect(preview["application"]?["name"] == "Notes" && preview["application"]?["app_link_url"] == .null)
    }

    @Test func otherSettingsTakeEffectAtOnce() throws {
        let last = try app.count("SELECT MAX(id) FROM audit_log")
        let answer = patch(["name": "Chess", "scope_policy": "alert", "webhook_url": "https://93.184.216.34/hook"])
        #expect(answer["scope_policy"] == "alert" && answer["webhook_url"] == "https://93.184.216.34/hook")
        #expect(answer["name"] == "Notes" && answer["pending_changes"] == ["name": "Chess"])
        let who = "\(developer.userID) user:\(developer.userID)"
        #expect(
            try scene.audited(since: last) == [
                #"\#(who) application.updated {"client_id":"\#(clientID)","changed":["webhook_url","scope_policy"]}"#,
                #"\#(who) application.changes_requested {"client_id":"\#(clientID)","pending":["name"],"#
                    + #""revision":"\#(try application().revision)"}"#,
            ])
    }

    @Test func laterRequestsAreMerged() throws {
        _ = patch(["name": "Chess", "app_link_url": "https://notes.example/"])
        let merged = patch(["name": "Go", "redirect_uris": ["https://notes.example/cb"]])
        #expect(
            merged["pending_changes"] == [
                "name": "Go", "redirect_uris": ["https://notes.example/cb"], "app_link_url": "https://notes.example/",
            ])
        // The same again leaves no trace; what serves already is no change.
        try app.expectUnchanged {
            #expect(patch(["name": "Go"]).json == merged.json)
            #expect(patch(["allowed_scopes": ["openid", "profile:basic", "email", "openid"]]).json == merged.json)
        }
        #expect(
            patch(["redirect_uris": [.string(Self.redirectURI)], "app_link_url": .null])["pending_changes"] == [
                "name": "Go"
            ])
        let last = try app.count("SELECT MAX(id) FROM audit_log")
        #expect(patch(["name": "Notes"])["pending_changes"] == nil)
        #expect(try scene.audited(since: last).map { $0.contains("application.changes_withdrawn") } == [true])
        #expect(try app.column("SELECT pending_changes FROM applications") == ["NULL"])
    }

    /// Two spellings that look alike are different names.
    @Test func namesAreComparedByteForByte() throws {
        try app.change("UPDATE applications SET name = 'é'")
        #expect(patch(["name": "e\u{301}"])["pending_changes"]?["name"] == "e\u{301}")
        #expect(patch(["name": "é"])["pending_changes"] == nil)
    }

    @Test func malformedChangesAreRefusedWhenAsked() throws {
        try app.expectUnchanged {
            #expect(patch(["redirect_uris": ["https://id.example/cb"]]).error == "invalid_redirect_uri")
            #expect(patch(["name": ""]).error == "invalid_request")
        }
    }

    @Test func whatServesNobodyChangesAtOnce() throws {
        try app.change("UPDATE applications SET status = 'pending'")
        let answer = patch(["name": "Chess"])
        #expect(answer["name"] == "Chess" && answer["pending_changes"] == nil)
    }

    @Test func theSettingLetsChangesThrough() throws {
        let own = try TestApp(
            settings: AccountsSettings(issuer: TestApp.issuer, autoApprovesApplications: true),
            database: app.database, time: app.time)
        _ = patch(["name": "Chess", "app_link_url": "https://notes.example/"])
        let answer = own.client().send(
            .patch, "\(OAuthScene.applications)/\(clientID)", ["application": ["name": "Go"]], token: developer.token)
        #expect(answer["name"] == "Go")
        // What was asked for before still waits.
        #expect(answer["pending_changes"] == ["app_link_url": "https://notes.example/"])
    }

    @Test func theOperatorChangesAtOnce() throws {
        _ = patch(["name": "Chess", "app_link_url": "https://notes.example/"])
        var changes = ApplicationChanges()
        changes.name = "Go"
        let approved = try ApprovedChanges(changes, by: rules)
        let changed = try app.operate { try $0.setApplication(clientID, approved) }
        #expect(changed.name == "Go" && changed.pendingChanges.json == ["app_link_url": "https://notes.example/"])
    }

    // MARK: What the operator decides

    @Test func approvedChangesServe() throws {
        _ = patch(everything)
        let (revision, last) = (try application().revision, try app.count("SELECT MAX(id) FROM audit_log"))
        #expect(try app.sql { try $0.applicationsAwaitingApproval() } == 1)
        try approve(revision)
        let shown = scene.show(clientID, to: developer)
        #expect(shown["pending_changes"] == nil && shown["status"] == "active")
        for member in ["name", "redirect_uris", "post_logout_redirect_uris", "allowed_scopes", "app_link_url"] {
            #expect(shown[member] == everything[member], "\(member)")
        }
        #expect(authorize().error == "invalid_request")
        #expect(authorize("https://evil.example/cb", scope: "phone").status == 200)
        #expect(try app.sql { try $0.applicationsAwaitingApproval() } == 0)
        #expect(
            try scene.audited(since: last) == [
                #"- operator application.approved {"client_id":"\#(clientID)","status":"active","from":"#
                    + #"{"name":"Notes","redirect_uris":["\#(Self.redirectURI)"],"post_logout_redirect_uris":[],"#
                    + #""allowed_scopes":["openid","profile:basic","email"],"app_link_url":null},"to":"#
                    + #"{"name":"Evil Notes","redirect_uris":["https://evil.example/cb"],"#
                    + #""post_logout_redirect_uris":["https://evil.example/bye"],"#
                    + #""allowed_scopes":["openid","phone"],"app_link_url":"https://evil.example/"}}"#
            ])
        try expectRefused("nothing is pending") { try approve(nil) }
    }

    @Test func aLinkIsClearedByApproval() throws {
        try app.change("UPDATE applications SET app_link_url = 'https://notes.example/'")
        #expect(patch(["app_link_url": .null])["pending_changes"] == ["app_link_url": .null])
        #expect(try approve(application().revision).appLinkURL == nil)
    }

    @Test func refusedChangesAreGone() throws {
        _ = patch(everything)
        let last = try app.count("SELECT MAX(id) FROM audit_log")
        try refuse(application().revision)
        #expect(scene.show(clientID, to: developer)["pending_changes"] == nil)
        #expect(authorize().status == 200)
        #expect(
            try scene.audited(since: last).map { $0.hasPrefix("- operator application.changes_refused ") } == [true])
        try expectRefused("has no pending changes") { try refuse(application().revision) }
    }

    @Test func aSuspendedApplicationStaysSo() throws {
        try app.change("UPDATE applications SET status = 'suspended'")
        _ = patch(["name": "Chess"])
        let approved = try approve(application().revision)
        #expect(approved.name == "Chess" && approved.status == .suspended)
        try expectRefused("is suspended") { try approve(nil) }
    }

    @Test func aNewApplicationIsApproved() throws {
        try app.change("UPDATE applications SET status = 'pending'")
        let seen = try application().revision
        _ = patch(["name": "Chess"])
        try expectRefused("has changed since") { try approve(seen) }
        #expect(try approve(nil).status == .active)
        #expect(scene.show(clientID, to: developer)["name"] == "Chess")
    }

    /// If anything that the operator saw has changed, the revision differs.
    @Test func onlyWhatWasSeenIsApproved() throws {
        _ = patch(["redirect_uris": ["https://notes.example/cb"]])
        let seen = try application().revision
        try expectRefused("name the revision") { try approve(nil) }
        let meanwhile: [() throws -> Void] = [
            { _ = patch(["redirect_uris": ["https://notes.example/cb", "https://evil.example/cb"]]) },
            { _ = patch(["name": "Chess"]) },
            { try app.change("UPDATE applications SET name = 'Notes 2'") },
            { try app.change("UPDATE applications SET redirect_uris = '[\"https://notes.example/old\"]'") },
            { try app.change("UPDATE applications SET status = 'suspended'") },
        ]
        let row = try app.column("SELECT pending_changes FROM applications")
        for change in meanwhile {
            try change()
            try expectRefused("has changed since") { try approve(seen) }
            try expectRefused("has changed since") { try refuse(seen) }
            try app.change(
                """
                UPDATE applications
                SET name = 'Notes', status = 'active', redirect_uris = JSON_ARRAY(?), pending_changes = ?
                """, Self.redirectURI, row[0])
            #expect(try application().revision == seen)
        }
        #expect(try approve(seen).redirectURIs == ["https://notes.example/cb"])
    }

    /// The rules may have become stricter since the developer's request, or the issuer may have moved.
    @Test func theRulesOfNowHold() throws {
        _ = patch(["redirect_uris": ["https://login.example/cb"]])
        let revision = try application().revision
        let moved = AccountsSettings(issuer: "https://login.example").applicationRules
        try expectRefused("(idp_host)") { try approve(revision, by: moved) }
        #expect(try approve(revision).redirectURIs == ["https://login.example/cb"])
    }

    // MARK: At once

    /// The developer submits another change while the operator approves the one that they saw. In either order, no
    /// change takes effect that the operator has not seen.
    @Test func nothingSlipsThroughWhileTheOperatorLooks() throws {
        let (app, clientID, token, rules) = (app, clientID, developer.token, rules)
        let path = "\(OAuthScene.applications)/\(clientID)"
        for round in 0..<24 {
            let good = "https://good.example/\(round)"
            _ = patch(["redirect_uris": [.string(good)]])
            let seen = try application().revision
            let evil = "https://evil.example/\(round)"
            let body: JSONValue = ["application": ["redirect_uris": [.string(evil)]]]
            let outcomes = app.atOnce(4) { client, thread in
                if thread > 1 { return client.send(.patch, path, body, token: token).status == 200 }
                do {
                    _ = try app.operate { try $0.approveApplication(clientID, revision: seen, by: rules) }
                    return true
                } catch {
                    return false
                }
            }
            #expect(outcomes[2] && outcomes[3])
            #expect(outcomes[0...1].count { $0 } <= 1, "a revision is approved once")
            let now = try application()
            let isApproved = outcomes[0] || outcomes[1]
            #expect(now.redirectURIs.contains(good) == isApproved, "\(round)")
            #expect(!now.redirectURIs.contains { $0.hasPrefix("https://evil.") })
            #expect(now.pendingChanges.json == ["redirect_uris": [.string(evil)]])
        }
        let approvals = try app.count("SELECT COUNT(*) FROM audit_log WHERE action = 'application.approved'")
        let served = Set(
            try app.column("SELECT JSON_EXTRACT(details, '$.to') FROM audit_log WHERE action = 'application.approved'"))
        #expect(served.count == approvals && !served.contains { $0.contains("evil") })
    }
}
