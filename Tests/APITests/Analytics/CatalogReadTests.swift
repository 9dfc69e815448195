import Analytics
import TestSupport
import Testing

/// Apps and projects of analytics §13.3 over the wire.
@Suite struct CatalogReadTests {
    let app: TestApp
    let scene: AnalyticsScene
    let client: Client

    init() throws {
        app = try TestApp()
        scene = try AnalyticsScene(app)
        client = app.client()
    }

    @Test func appsAreShownWithAllMembers() throws {
        app.time.advance(by: .seconds(1))
        let backend = try scene.makeApp(platform: .backend)
        try app.change(
            "UPDATE apps SET supported_languages = '[\"de\",\"en\"]', supported_languages_source = 'sdk' WHERE id = ?",
            scene.appID)
        let (team, project) = (scene.team, scene.project)
        let text = """
            {"id":"\(scene.appID)","team_id":"\(team)","project_id":"\(project)","name":"App","platform":"apple",\
            "bundle_id":"com.example","supported_languages":["de","en"],"client_secret":null,\
            "created_at":"2026-05-12T07:00:00.000Z"},\
            {"id":"\(backend.id)","team_id":"\(team)","project_id":"\(project)","name":"App","platform":"backend",\
            "bundle_id":null,"supported_languages":null,"client_secret":null,"created_at":"2026-05-12T07:00:01.000Z"}
            """
        #expect("\(scene.get("/v1/apps", client))" == #"200 {"apps":[\#(text)]}"#)
    }

    @Test func projectsAreShownWithAllMembers() throws {
        app.time.advance(by: .seconds(1))
        let other = try AnalyticsScene(app, team: scene.team)
        try app.change(
            """
            UPDATE projects SET name = 'Other', slug = 'other', color = '#fff', retention_days_events = 1,
                retention_days_metrics = 2, retention_days_funnels = 3, attachment_user_quota_bytes = 4,
                attachment_project_quota_bytes = 5, claim_conflict = 'refuse'
            WHERE id = ?
            """, other.project)
        let text = """
            {"id":"\(scene.project)","team_id":"\(scene.team)","name":"Project","slug":"\(scene.project)","color":null,\
            "retention_days_events":null,"retention_days_metrics":null,"retention_days_funnels":null,\
            "effective_retention_days_events":120,"effective_retention_days_metrics":365,\
            "effective_retention_days_funnels":365,"attachment_user_quota_bytes":null,\
            "attachment_project_quota_bytes":null,"effective_attachment_user_quota_bytes":262144000,\
            "effective_attachment_project_quota_bytes":5368709120,"claim_conflict":"latest",\
            "created_at":"2026-05-12T07:00:00.000Z"},\
            {"id":"\(other.project)","team_id":"\(scene.team)","name":"Other","slug":"other","color":"#fff",\
            "retention_days_events":1,"retention_days_metrics":2,"retention_days_funnels":3,\
            "effective_retention_days_events":1,"effective_retention_days_metrics":2,\
            "effective_retention_days_funnels":3,"attachment_user_quota_bytes":4,"attachment_project_quota_bytes":5,\
            "effective_attachment_user_quota_bytes":4,"effective_attachment_project_quota_bytes":5,\
            "claim_conflict":"refuse","created_at":"2026-05-12T07:00:01.000Z"}
            """
        #expect("\(scene.get("/v1/projects", client))" == #"200 {"projects":[\#(text)]}"#)
    }

    @Test func onlyTheTeamsLiveOnesAreShown() throws {
        let (stranger, gone) = (try AnalyticsScene(app), try AnalyticsScene(app, team: scene.team))
        let deleted = try scene.makeApp()
        try app.change("UPDATE apps SET deleted_at = created_at WHERE id = ?", deleted.id)
        try app.change("UPDATE projects SET deleted_at = created_at WHERE id = ?", gone.project)
        for query in ["", "?team_id=\(scene.team)", "?team_id=\(scene.team.description.uppercased())"] {
            #expect(scene.get("/v1/apps" + query, client).all("id", in: "apps") == ["\(scene.appID)"])
            #expect(scene.get("/v1/projects" + query, client).all("id", in: "projects") == ["\(scene.project)"])
        }
        for query in ["?team_id=\(stranger.team)", "?team_id=x"] {
            #expect("\(scene.get("/v1/apps" + query, client))" == #"200 {"apps":[]}"#)
            #expect("\(scene.get("/v1/projects" + query, client))" == #"200 {"projects":[]}"#)
        }
    }

    @Test func projectsNeedTheirPermission() throws {
        let key = try scene.makeKey(.agent, permissions: [.appsRead])
        #expect("\(scene.get("/v1/projects", client, token: key))" == refusal(403, "Missing permission: projects:read"))
    }
}
