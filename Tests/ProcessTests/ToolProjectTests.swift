import JSON
import MariaDB
import TestSupport
import Testing

/// The operator's commands for teams, projects and apps.
@Suite struct ToolProjectTests {
    @Test func setsUpAProjectWithItsApps() throws {
        let installation = try Installation()
        let team = try installation.created("team", "create", "--name", "Pond 연못")
        #expect(JSONObject.names(team) == ["id", "name", "created_at"])
        let project = try installation.created(
            "project", "create", "--team", text(team["id"]), "--name", "Notes", "--slug", "notes", "--color", "#1a2B3c",
            "--claim-conflict", "refuse", "--retention-days-events", "30", "--attachment-user-quota-bytes", "0")
        #expect(
            JSONObject.names(project) == [
                "id", "team_id", "name", "slug", "color", "claim_conflict", "retention_days_events",
                "retention_days_metrics", "retention_days_funnels", "attachment_user_quota_bytes",
                "attachment_project_quota_bytes", "accounts", "purge_events", "created_at",
            ])
        #expect(project["team_id"] == team["id"])
        #expect(project["claim_conflict"] == "refuse")
        #expect(project["retention_days_events"] == 30)
        #expect(project["retention_days_metrics"] == .null)
        #expect(project["attachment_user_quota_bytes"] == 0)
        let created = try #require(project["created_at"]?.string)
        #expect(created.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)

        let app = try installation.created(
            "app", "create", "--project", text(project["id"]), "--platform", "apple", "--bundle-id", "com.example",
            "--name", "Notes for iOS")
        #expect(
            JSONObject.names(app) == ["id", "team_id", "project_id", "name", "platform", "bundle_id", "created_at"])
        #expect(app["team_id"] == team["id"])
        #expect(app["bundle_id"] == "com.example")
        let backend = try installation.created(
            "app", "create", "--project", text(project["id"]), "--platform", "backend", "--name", "Notes API")
        #expect(backend["bundle_id"] == .null)

        #expect(try installation.tool("team", "list", "--json").json()["teams"] == .array([team]))
        #expect(try installation.tool("project", "show", text(project["id"]), "--json").json() == project)
        #expect(try installation.tool("project", "list", "--json").json()["projects"] == .array([project]))
        #expect(try installation.tool("app", "list", "--json").json()["apps"] == .array([app, backend]))
        #expect(try installation.tool("app", "list").output.contains("com.example"))
        #expect(
            try installation.tool("project", "show", text(project["id"])).output
                .contains("retention       events 30 days, metrics by default, funnels by default\n"))
    }

    @Test func changesWhatIsGivenAndNothingElse() throws {
        let installation = try Installation()
        let (_, project) = try installation.project(
            "--color", "#ffffff", "--retention-days-metrics", "400", "--attachment-project-quota-bytes", "1000")
        let changed = try installation.created(
            "project", "set", project, "--color", "none", "--retention-days-metrics", "none",
            "--retention-days-funnels",
            "7", "--claim-conflict", "refuse", "--name", "New")
        #expect(changed["name"] == "New")
        #expect(changed["slug"] == "notes")
        #expect(changed["color"] == .null)
        #expect(changed["claim_conflict"] == "refuse")
        #expect(changed["retention_days_events"] == .null)
        #expect(changed["retention_days_metrics"] == .null)
        #expect(changed["retention_days_funnels"] == 7)
        #expect(changed["attachment_project_quota_bytes"] == 1000)
        #expect(try installation.tool("project", "show", project, "--json").json() == changed)
    }

    /// A release that does not know what the setting makes of user ids must not run beside one that does.
    @Test func theAccountsSettingEndsCompatibility() throws {
        let installation = try Installation()
        let (_, project) = try installation.project()
        let db = try installation.database.connect()
        func isRefused() throws -> Bool {
            try db.first(
                "SELECT 1 FROM schema_migrations WHERE number = 32 AND compatible_since > 31"
            ) { row in try row.read(Int.self) } != nil
        }
        _ = try installation.created("project", "set", project, "--purge-events", "on", "--accounts", "off")
        #expect(try !isRefused())
        let changed = try installation.created("project", "set", project, "--accounts", "on")
        #expect(changed["accounts"] == true && changed["purge_events"] == true)
        #expect(try isRefused())
        _ = try installation.created("project", "set", project, "--accounts", "off")
        #expect(try isRefused())
        #expect(try installation.tool("project", "set", project, "--accounts", "perhaps").exit == .status(64))
    }

    @Test func listsWhatBelongsTogether() throws {
        let installation = try Installation()
        let (team, project) = try installation.project()
        let (other, otherProject) = try installation.project()
        _ = try installation.created("app", "create", "--project", project, "--platform", "web", "--name", "Web")
        func ids(_ list: JSONValue?) -> [String] { (list?.array ?? []).compactMap { $0["id"]?.string } }
        let all = try installation.tool("project", "list", "--json").json()
        #expect(ids(all["projects"]) == [project, otherProject])
        let teams = try installation.tool("project", "list", "--team", other, "--json").json()
        #expect(ids(teams["projects"]) == [otherProject])
        let apps = try installation.tool("app", "list", "--project", otherProject, "--json").json()
        #expect(apps["apps"] == [])

        try installation.database.connect().execute(
            "UPDATE projects SET deleted_at = NOW(3) WHERE id = UNHEX(REPLACE(?, '-', ''))", project)
        let left = try installation.tool("project", "list", "--team", team, "--json").json()
        #expect(left["projects"] == [])
        #expect(try installation.tool("app", "list", "--json").json()["apps"] == [])
        for command in [["show", project], ["set", project, "--name", "N"]] {
            let gone = try installation.tool(["project"] + command + ["--json"])
            #expect(gone.exit == .status(1))
            #expect(
                try gone.errorJSON()["message"]?.string
                    == "there is no project \(project); `merganserctl project list` shows them")
        }
    }

    @Test(arguments: [
        (["team", "create", "--name", ""], "the team's name must have 1 to 200 characters"),
        (["team", "create", "--name", "a\u{7}"], "no control characters"),
        (["project", "create", "--team", nobody, "--name", "N", "--slug", "n"], "there is no team \(nobody)"),
        (["project", "create", "--team", "TEAM", "--name", "N", "--slug", "notes"], "the slug \"notes\" already"),
        (["project", "create", "--team", "TEAM", "--name", "N", "--slug", "Notes"], "\"Notes\" is not a valid slug"),
        (["project", "set", "PROJECT", "--slug", String(repeating: "x", count: 65)], "1 to 64 of a-z 0-9 -"),
        (["project", "set", "PROJECT", "--name", ""], "the project's name must have"),
        (["project", "set", "PROJECT", "--color", "red"], "write it as #rrggbb"),
        (["project", "set", "PROJECT", "--retention-days-events", "0"], "choose 1 to 36500"),
        (["project", "set", "PROJECT", "--retention-days-funnels", "36501"], "choose 1 to 36500"),
        (["project", "set", "PROJECT", "--attachment-project-quota-bytes", "1125899906842625"], "a quota of"),
        (["app", "create", "--project", nobody, "--platform", "web", "--name", "N"], "there is no project \(nobody)"),
        (["app", "create", "--project", "PROJECT", "--platform", "web", "--name", ""], "the app's name must have"),
        (
            ["app", "create", "--project", "PROJECT", "--platform", "backend", "--bundle-id", "b", "--name", "N"],
            "an app of platform backend has no bundle id"
        ),
        (
            ["app", "create", "--project", "PROJECT", "--platform", "web", "--bundle-id", "a b", "--name", "N"],
            "a bundle id has 1 to 255 characters"
        ),
    ])
    func refusesWithAReasonAndChangesNothing(_ arguments: [String], _ reason: String) throws {
        let installation = try Installation()
        let (team, project) = try installation.project()
        let before = try installation.database.dump()
        let arguments = arguments.map { ["TEAM": team, "PROJECT": project][$0] ?? $0 }
        let outcome = try installation.tool(arguments + ["--json"])
        #expect(outcome.exit == .status(1))
        #expect(outcome.output.isEmpty)
        let error = try outcome.errorJSON()
        #expect(error["error"] == "refused")
        #expect(error["message"]?.string?.contains(reason) == true, "\(error)")
        #expect(try installation.database.dump() == before)
    }

    @Test(arguments: [
        (["project", "set", "PROJECT"], "Nothing to change; name a setting"),
        (["project", "show", "notes"], "ids are UUIDs; `merganserctl project list` shows them"),
        (["project", "set", "PROJECT", "--retention-days-events", "long"], "'--retention-days-events <days|none>'"),
        (
            ["app", "create", "--project", "PROJECT", "--platform", "ios", "--name", "N"],
            "'apple', 'android', 'web' or 'backend'"
        ),
    ])
    func saysWhatIsWrongWithTheArguments(_ arguments: [String], _ reason: String) throws {
        let arguments = arguments.map { $0 == "PROJECT" ? nobody : $0 }
        let outcome = try ChildProcess.run(Repository.program("merganserctl"), arguments + ["--json"])
        #expect(outcome.exit == .status(64))
        #expect(try outcome.errorJSON()["message"]?.string?.contains(reason) == true, "\(outcome.errorOutput)")
    }
}

/// An id that does not exist.
let nobody = "00000000-0000-7000-8000-000000000000"

private func text(_ value: JSONValue?) -> String { value?.string ?? "" }

extension Installation {
    /// The output of a command that succeeds.
    func created(_ arguments: String...) throws -> JSONValue {
        let outcome = try tool(arguments + ["--json"])
        #expect(outcome.exit == .status(0), "\(outcome.errorOutput)")
        return try outcome.json()
    }

    /// A team of its own with a project.
    ///
    /// - Returns: their ids.
    func project(_ options: String...) throws -> (team: String, project: String) {
        let team = text(try created("team", "create", "--name", "Pond")["id"])
        let outcome = try tool(
            ["project", "create", "--team", team, "--name", "Notes", "--slug", "notes", "--json"] + options)
        return (team, text(try outcome.json()["id"]))
    }
}
