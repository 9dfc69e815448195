import Foundation
import JSON
import MariaDB
import OpenSSL
import TestSupport
import Testing

@Suite struct ToolAPIKeyTests {
    @Test(arguments: [
        ("client", ["events:write", "users:write"]),
        ("import", ["events:write", "users:write"]),
        (
            "agent",
            [
                "events:read", "funnels:read", "metrics:read", "apps:read", "projects:read", "feedback:read",
                "feedback:write", "questionnaires:read", "questionnaires:write", "users:write",
            ]
        ),
    ])
    func createsAKeyAndShowsItsSecretOnce(type: String, permissions: [String]) throws {
        let scene = try Scene()
        let owner = type == "agent" ? ["--team", scene.team] : ["--app", scene.app]
        let outcome = try scene.installation.tool(["api-key", "create", "--type", type, "--json"] + owner)
        #expect(outcome.exit == .status(0))
        let key = try outcome.json()
        #expect(
            JSONObject.names(key) == [
                "id", "type", "prefix", "last4", "app_id", "team_id", "name", "permissions", "last_used_at",
                "expires_at", "created_at", "revoked_at", "secret",
            ])
        let secret = try #require(key["secret"]?.string)
        #expect(secret.wholeMatch(of: try Regex("owl_\(type)_[0-9a-f]{48}")) != nil)
        #expect(key["prefix"] == .string("owl_\(type)_"))
        #expect(key["last4"] == .string(String(secret.suffix(4))))
        #expect(key["app_id"] == (type == "agent" ? .null : .string(scene.app)))
        #expect(key["team_id"] == .string(scene.team))
        #expect(key["permissions"] == .array(permissions.map { .string($0) }))
        #expect(key["expires_at"] == .null)

        let stored = try scene.installation.database.connect().first(
            "SELECT secret_sha256, prefix, last4 FROM api_keys WHERE key_type = ?", type
        ) { row in (try row.read([UInt8].self), try row.read(String.self), try row.read(String.self)) }
        #expect(try #require(stored) == (sha256(secret.utf8), "owl_\(type)_", String(secret.suffix(4))))
        #expect(try !scene.installation.database.dump().contains(secret))
        let listed = try scene.installation.tool("api-key", "list", "--json")
        #expect(!listed.output.contains(secret))
        #expect(JSONObject.names(try listed.json()["api_keys"]?.array?.first ?? .null).contains("secret") == false)
    }

    @Test func takesWhatIsSaidOfAKey() throws {
        let scene = try Scene()
        let key = try scene.installation.created(
            "api-key", "create", "--type", "client", "--app", scene.app, "--team", scene.team, "--permission",
            "users:write", "--name", "iOS 3.2", "--expires", "2099-01-31T18:00+02:00")
        #expect(key["permissions"] == ["users:write"])
        #expect(key["name"] == "iOS 3.2")
        #expect(key["expires_at"] == "2099-01-31T16:00:00.000Z")
        let agent = try scene.installation.created(
            "api-key", "create", "--type", "agent", "--team", scene.team, "--permission", "feedback:read",
            "--permission", "events:read")
        #expect(agent["permissions"] == ["events:read", "feedback:read"])
        #expect(agent["name"] == "agent")
    }

    /// Any text may follow the prefix.
    @Test(arguments: [
        "owl_client_0123abcd", "owl_client_", "owl_client_Ünïcödé/+=",
        "owl_client_" + String(repeating: "x", count: 4000),
    ])
    func registersASecretThatAppsHave(secret: String) throws {
        for ending in ["", "\n", "\r\n"] {
            let scene = try Scene()
            let outcome = try scene.registerKey(secret + ending)
            #expect(outcome.exit == .status(0), "\(outcome.errorOutput)")
            let key = try outcome.json()
            #expect(key["secret"] == nil)
            let digest = try scene.installation.database.connect().first("SELECT secret_sha256 FROM api_keys") { row in
                try row.read([UInt8].self)
            }
            #expect(digest == sha256(secret.utf8))

            let again = try scene.registerKey(secret)
            #expect(again.exit == .status(1))
            #expect(
                try again.errorJSON()["message"]?.string?.contains("another key, live or revoked, has this secret")
                    == true)
            #expect(!again.errorOutput.contains(secret))
        }
    }

    @Test(arguments: [
        ("", "must begin with owl_client_"), ("owl_import_0123", "must begin with owl_client_"),
        ("owl_client_a\nowl_client_b", "spaces or control characters"),
        ("owl_client_a b", "spaces or control characters"),
        ("owl_client_a\n\n", "spaces or control characters"),
    ])
    func refusesWhatIsNoSecretOfItsType(secret: String, reason: String) throws {
        let scene = try Scene()
        let outcome = try scene.registerKey(secret)
        #expect(outcome.exit == .status(1))
        let message = try #require(try outcome.errorJSON()["message"]?.string)
        #expect(message.contains(reason), "\(message)")
        #expect(secret.isEmpty || !message.contains(secret))
        #expect(try scene.installation.tool("api-key", "list", "--json").json()["api_keys"] == [])
    }

    @Test(arguments: [
        (["--type", "client"], "a key of type client belongs to an app"),
        (["--type", "import", "--team", "TEAM"], "a key of type import belongs to an app"),
        (["--type", "client", "--app", "NOBODY"], "there is no app \(nobody); `merganserctl app list`"),
        (["--type", "client", "--app", "APP", "--team", "NOBODY"], "leave the team out"),
        (["--type", "agent"], "an agent key belongs to a team and to no app"),
        (["--type", "agent", "--team", "TEAM", "--app", "APP"], "an agent key belongs to a team and to no app"),
        (["--type", "agent", "--team", "NOBODY"], "there is no team \(nobody); `merganserctl team list`"),
        (["--type", "agent", "--team", "TEAM", "--permission", "events:write"], "cannot have events:write"),
        (
            ["--type", "client", "--app", "APP", "--permission", "events:read"],
            "cannot have events:read; it may have events:write, users:write"
        ),
        (["--type", "client", "--app", "APP", "--name", ""], "the key's name must have 1 to 200 characters"),
        (["--type", "client", "--app", "APP", "--expires", "2026-01-01"], "2026-01-01T00:00:00.000Z is in the past"),
    ])
    func refusesWithAReasonAndChangesNothing(_ arguments: [String], _ reason: String) throws {
        let scene = try Scene()
        let before = try scene.installation.database.dump()
        let ids = ["TEAM": scene.team, "APP": scene.app, "NOBODY": nobody]
        let outcome = try scene.installation.tool(
            ["api-key", "create"] + arguments.map { ids[$0] ?? $0 } + ["--json"])
        #expect(outcome.exit == .status(1))
        let error = try outcome.errorJSON()
        #expect(error["error"] == "refused")
        #expect(error["message"]?.string?.contains(reason) == true, "\(error)")
        #expect(try scene.installation.database.dump() == before)
    }

    @Test func aDeletedAppGetsNoKey() throws {
        let scene = try Scene()
        try scene.installation.database.connect().execute("UPDATE projects SET deleted_at = NOW(3)")
        let outcome = try scene.installation.tool("api-key", "create", "--type", "client", "--app", scene.app, "--json")
        #expect(try outcome.errorJSON()["message"]?.string?.hasPrefix("there is no app \(scene.app)") == true)
    }

    @Test func revokesForGood() throws {
        let scene = try Scene()
        let key = try scene.installation.created("api-key", "create", "--type", "client", "--app", scene.app)
        let id = try #require(key["id"]?.string)
        let revoked = try scene.installation.created("api-key", "revoke", id)
        #expect(JSONObject.names(revoked) == ["id", "revoked_at"])
        #expect(try scene.installation.created("api-key", "revoke", id) == revoked, "the first time counts")
        let listed = try #require(
            try scene.installation.tool("api-key", "list", "--app", scene.app, "--json").json()["api_keys"]?.array?
                .first)
        #expect(listed["revoked_at"] == revoked["revoked_at"])
        #expect(try scene.installation.tool("api-key", "list").output.contains("revoked"))

        let unknown = try scene.installation.tool("api-key", "revoke", nobody, "--json")
        #expect(unknown.exit == .status(1))
        #expect(try unknown.errorJSON()["error"] == "not_found")
    }

    @Test(arguments: [nil, "owl_client_as-shipped"])
    func aServerTakesAKeyUntilItIsRevoked(shipped: String?) throws {
        let scene = try Scene()
        let key =
            try shipped.map { try scene.registerKey($0).json() }
            ?? scene.installation.created("api-key", "create", "--type", "client", "--app", scene.app)
        let secret = try #require(shipped ?? key["secret"]?.string)
        let server = try scene.installation.readyServer()
        func claim() throws -> FastCGIClient.Answer {
            try scene.installation.ask(
                "POST", "/v1/identity/claim", headers: [("HTTP_AUTHORIZATION", "Bearer \(secret)")])
        }
        #expect(try claim().status == 400, "let in, and told what is missing")
        _ = try scene.installation.created("api-key", "revoke", try #require(key["id"]?.string))
        let refused = try claim()
        #expect(refused.status == 401)
        #expect(String(decoding: refused.body, as: UTF8.self) == #"{"error":"Invalid API key"}"#)
        #expect(!server.errorOutput.contains(secret))
    }

    @Test func listsTheKeysOfATeamOrAnApp() throws {
        let scene = try Scene()
        let client = try scene.installation.created("api-key", "create", "--type", "client", "--app", scene.app)
        let agent = try scene.installation.created("api-key", "create", "--type", "agent", "--team", scene.team)
        func ids(_ arguments: String...) throws -> [JSONValue?] {
            let list = try scene.installation.tool(["api-key", "list", "--json"] + arguments).json()
            return (list["api_keys"]?.array ?? []).map { $0["id"] }
        }
        #expect(try ids() == [client["id"], agent["id"]])
        #expect(try ids("--team", scene.team) == [client["id"], agent["id"]])
        #expect(try ids("--app", scene.app) == [client["id"]])
        #expect(try ids("--team", nobody) == [])
    }

    private struct Scene {
        let installation: Installation
        let team: String
        let app: String

        init() throws {
            installation = try Installation()
            let (team, project) = try installation.project()
            let app = try installation.created(
                "app", "create", "--project", project, "--platform", "apple", "--bundle-id", "com.example", "--name",
                "A")
            self.team = team
            self.app = try #require(app["id"]?.string)
        }

        /// A client key with that on standard input.
        func registerKey(_ input: String) throws -> ChildProcess.Outcome {
            let file = try FileHandle(forReadingFrom: URL(filePath: installation.directory.write(input, to: "secret")))
            return try ChildProcess.run(
                Repository.program("merganserctl"),
                ["api-key", "create", "--type", "client", "--app", app, "--from-stdin", "--json"],
                environment: installation.environment, input: file.fileDescriptor)
        }
    }
}
