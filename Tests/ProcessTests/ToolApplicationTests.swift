import Foundation
import JSON
import MariaDB
import OpenSSL
import TestSupport
import Testing

@Suite struct ToolApplicationTests {
    @Test func registersAConfidentialClient() throws {
        let installation = try Installation()
        let outcome = try installation.tool(
            "application", "create", "--name", "Notes", "--client-type", "confidential", "--redirect-uri",
            "https://notes.example/callback", "com.example.notes://callback", "--scope", "openid", "--scope",
            "shop:member", "--json")
        #expect(outcome.exit == .status(0))
        let created = try outcome.json()
        #expect(
            JSONObject.names(created) == [
                "id", "client_id", "client_type", "token_endpoint_auth_method", "redirect_uris", "allowed_scopes",
                "status", "client_secret", "webhook_key",
            ])
        let clientID = try #require(created["client_id"]?.string)
        let secret = try #require(created["client_secret"]?.string)
        #expect(clientID.wholeMatch(of: /logi_[0-9a-f]{32}/) != nil)
        #expect(secret.wholeMatch(of: /logi_secret_[0-9a-f]{64}/) != nil)
        #expect(created["client_type"] == "confidential")
        #expect(created["token_endpoint_auth_method"] == "client_secret_basic")
        #expect(created["redirect_uris"] == ["https://notes.example/callback", "com.example.notes://callback"])
        #expect(created["allowed_scopes"] == ["openid", "shop:member"])
        #expect(created["status"] == "active")
        let webhookSecret = try #require(created["webhook_key"]?["secret"]?.string)
        #expect(webhookSecret.wholeMatch(of: /whsec_[A-Za-z0-9+\/]{43}=/) != nil)
        #expect(created["webhook_key"]?["kid"]?.string?.wholeMatch(of: /whk_\d{4}q[1-4]_[0-9a-f]{2}/) != nil)

        let connection = try installation.database.connect()
        let stored = try connection.first(
            "SELECT secret_digest, allow_anonymous_grants, notify_anonymous_swap FROM applications WHERE client_id = ?",
            clientID
        ) { row in (try row.read([UInt8].self), try row.read(Bool.self), try row.read(Bool.self)) }
        #expect(try #require(stored) == (sha256(secret.utf8), false, false))
        let audited = try connection.all("SELECT actor, action, JSON_VALUE(details, '$.client_id') FROM audit_log") {
            row in
            [try row.read(String.self), try row.read(String.self), try row.read(String.self)]
        }
        #expect(
            audited == [["operator", "application.created", clientID], ["operator", "webhook_key.created", clientID]])

        let shown = try installation.tool("application", "show", clientID, "--json")
        #expect(!(outcome.output.replacing(secret, with: "") + shown.output).contains("logi_secret_"))
        let dump = try installation.database.dump()
        #expect(!dump.contains(secret) && !dump.contains(webhookSecret))
    }

    /// Deployed clients keep theirs (accounts §4.8).
    @Test func aClientKeepsItsSecret() throws {
        let installation = try Installation()
        func create(_ type: String, _ secret: String) throws -> ChildProcess.Outcome {
            let file = try FileHandle(forReadingFrom: URL(filePath: installation.directory.write(secret, to: "secret")))
            return try ChildProcess.run(
                Repository.program("merganserctl"),
                [
                    "application", "create", "--name", "Notes", "--client-type", type, "--client-id", "notes",
                    "--redirect-uri", "https://notes.example/callback", "--secret-from-stdin", "--json",
                ], environment: installation.environment, input: file.fileDescriptor)
        }
        let secret = "deployed since 2019: ~%+/"
        for (type, wrong) in [
            ("public", secret), ("confidential", ""), ("confidential", "fifteen letters"),
            ("confidential", "sixteen lett\u{E9}rs"), ("confidential", "sixteen\tletters!"),
            ("confidential", String(repeating: "x", count: 257)),
        ] {
            let outcome = try create(type, wrong)
            #expect(outcome.exit == .status(1), "\(outcome)")
            #expect(try outcome.errorJSON()["error"] == "refused")
        }
        let outcome = try create("confidential", secret + "\n")
        #expect(outcome.exit == .status(0), "\(outcome)")
        #expect(try outcome.json()["client_secret"] == nil && !outcome.output.contains(secret))
        let stored = try installation.database.connect().first(
            "SELECT secret_digest FROM applications WHERE client_id = 'notes'"
        ) { row in try row.read([UInt8].self) }
        #expect(try #require(stored) == sha256(secret.utf8))
    }

    /// The secret that nobody has seen is not shown again.
    @Test func aResultThatNobodyGetsIsAFailure() throws {
        let installation = try Installation()
        let child = try ChildProcess.run(
            "/bin/sh",
            [
                "-c", #"exec "$@" > /dev/full"#, "sh", Repository.program("merganserctl"), "application", "create",
                "--name", "Notes", "--client-type", "confidential", "--redirect-uri", "https://notes.example/callback",
            ], environment: installation.environment)
        #expect(child.exit == .status(1))
        #expect(
            child.errorOutput.contains("was carried out, but its result could not be written to standard output"),
            "\(child)")
    }

    @Test func everySettingIsMadeAndChanged() throws {
        let installation = try Installation()
        let all = [
            "--first-party", "--allow-anonymous-grants", "--linked-sub-details", "--notify-anonymous-swap",
            "--scope-policy", "alert", "--app-link-url", "https://notes.example/app", "--webhook-url",
            "http://127.0.0.1:3000/hook", "--webhook-events", "user.merged", "user.deleted", "--backchannel-logout-uri",
            "https://93.184.216.34/logout",
            "--post-logout-redirect-uri", "https://notes.example/bye", "notes://bye",
        ]
        let made = try installation.tool(
            [
                "application", "create", "--name", "N", "--client-type", "public", "--client-id", "notes",
                "--redirect-uri",
                "https://notes.example/cb", "--json",
            ] + all)
        #expect(made.exit == .status(0), "\(made)")
        func settings(_ shown: JSONValue) -> [JSONValue?] {
            [
                "first_party", "allow_anonymous_grants", "linked_sub_details", "notify_anonymous_swap", "scope_policy",
                "app_link_url", "webhook_url", "webhook_events", "backchannel_logout_uri", "post_logout_redirect_uris",
                "status", "name",
            ].map { shown[$0] }
        }
        let shown = try installation.tool("application", "show", "notes", "--json").json()
        #expect(
            settings(shown) == [
                true, true, true, true, "alert", "https://notes.example/app", "http://127.0.0.1:3000/hook",
                ["user.merged", "user.deleted"],
                "https://93.184.216.34/logout", ["https://notes.example/bye", "notes://bye"], "active", "N",
            ])
        #expect(shown["owner_user_id"] == nil)

        let changed = try installation.tool(
            "application", "set", "notes", "--status", "suspended", "--name", "M", "--no-first-party",
            "--no-allow-anonymous-grants", "--no-linked-sub-details", "--no-notify-anonymous-swap", "--scope-policy",
            "block", "--app-link-url", "none", "--webhook-url", "none", "--webhook-events", "all",
            "--backchannel-logout-uri", "none",
            "--post-logout-redirect-uri", "none", "--scope", "openid", "--redirect-uri", "https://m.example/1",
            "https://m.example/2", "--json")
        #expect(changed.exit == .status(0), "\(changed)")
        let after = try installation.tool("application", "show", "notes", "--json").json()
        #expect(try changed.json() == after)
        #expect(
            settings(after) == [false, false, false, false, "block", .null, .null, .null, .null, [], "suspended", "M"])
        #expect(after["redirect_uris"] == ["https://m.example/1", "https://m.example/2"])
        #expect(after["allowed_scopes"] == ["openid"])
        let audited = try installation.database.connect().all(
            "SELECT actor, details FROM audit_log WHERE action = 'application.updated'"
        ) { row in [try row.read(String.self), try row.read(String.self)] }
        #expect(audited.count == 1 && audited[0][0] == "operator" && audited[0][1].contains("\"status\""))
    }

    @Test func settingsAreRefusedWithAReason() throws {
        let installation = try Installation()
        _ = try installation.tool(
            "application", "create", "--name", "N", "--client-type", "public", "--client-id", "notes", "--redirect-uri",
            "https://notes.example/cb")
        let before = try installation.database.dump()
        for (arguments, reason) in [
            (["--webhook-url", "https://10.0.0.1/"], "its host has the address 10.0.0.1, which is not public"),
            (["--webhook-url", "http://rp.example/"], "it is not https"),
            (["--app-link-url", "javascript:x"], "use https, or a scheme of the app's own"),
            (["--webhook-events", "user.exploded"], "there are no events of type \"user.exploded\""),
            (["--webhook-events", "user.merged", "user.merged"], "name at least one type of event, and each once"),
            (["--name", ""], "the name must have 1 to 200 characters"),
            (["--redirect-uri", "my_app://cb"], "(scheme_underscore)"),
            (["--post-logout-redirect-uri", "http://notes.example/"], "(plain_http)"),
        ] {
            let outcome = try installation.tool(["application", "set", "notes", "--json"] + arguments)
            #expect(outcome.exit == .status(1))
            #expect(try outcome.errorJSON()["message"]?.string?.contains(reason) == true, "\(outcome)")
        }
        #expect(try installation.tool("application", "set", "notes").exit == .status(64))
        #expect(try installation.tool("application", "set", "notes", "--status", "gone").exit == .status(64))
        let unknown = try installation.tool("application", "set", "none", "--status", "active", "--json")
        #expect(unknown.exit == .status(1))
        #expect(try unknown.errorJSON()["message"]?.string?.hasPrefix("there is no application none") == true)
        #expect(try installation.database.dump() == before)
    }

    @Test func aSecretIsRotated() throws {
        let installation = try Installation()
        let first = try #require(
            try installation.tool(
                "application", "create", "--name", "N", "--client-type", "confidential", "--client-id", "notes",
                "--redirect-uri", "https://notes.example/cb", "--json"
            ).json()["client_secret"]?.string)
        func digests() throws -> [[UInt8]?] {
            try installation.database.connect().first("SELECT secret_digest, previous_secret_digest FROM applications")
            {
                row in [try row.read([UInt8]?.self), try row.read([UInt8]?.self)]
            } ?? []
        }
        let rotated = try installation.tool("application", "rotate-secret", "notes", "--json").json()
        let second = try #require(rotated["client_secret"]?.string)
        #expect(try digests() == [sha256(second.utf8), sha256(first.utf8)])
        let again = try installation.tool("application", "rotate-secret", "notes", "--immediate", "--json").json()
        let third = try #require(again["client_secret"]?.string)
        #expect(try digests() == [sha256(third.utf8), nil])

        _ = try installation.tool(
            "application", "create", "--name", "N", "--client-type", "public", "--client-id", "chess", "--redirect-uri",
            "https://chess.example/cb")
        let refused = try installation.tool("application", "rotate-secret", "chess", "--json")
        #expect(refused.exit == .status(1))
        #expect(try refused.errorJSON()["message"] == "chess is a public client, which has no secret")
    }

    @Test func aWebhookKeyIsRotated() throws {
        let installation = try Installation()
        let first = try installation.tool(
            "application", "create", "--name", "N", "--client-type", "public", "--client-id", "notes",
            "--redirect-uri", "https://notes.example/cb", "--json"
        ).json()["webhook_key"]
        let rotated = try installation.tool("webhook-key", "rotate", "notes", "--json").json()
        #expect(JSONObject.names(rotated) == ["client_id", "kid", "secret"] && rotated["client_id"] == "notes")
        #expect(rotated["secret"]?.string?.hasPrefix("whsec_") == true && rotated["secret"] != first?["secret"])
        let words = try installation.tool("webhook-key", "rotate", "notes")
        #expect(words.output.contains(#/^webhook kid     whk_\S+\nwebhook secret  whsec_\S+\n$/#))
        // The older ones stay.
        let connection = try installation.database.connect()
        let active = try connection.all("SELECT kid FROM webhook_keys WHERE retired_at IS NULL ORDER BY id") { row in
            try row.read(String.self)
        }
        #expect(active.count == 3 && active.first == first?["kid"]?.string && active[1] == rotated["kid"]?.string)
        let actors = try connection.all("SELECT actor FROM audit_log WHERE action = 'webhook_key.created'") { row in
            try row.read(String.self)
        }
        #expect(actors == ["operator", "operator", "operator"])
        let unknown = try installation.tool("webhook-key", "rotate", "chess", "--json")
        #expect(unknown.exit == .status(1))
        #expect(try unknown.errorJSON()["message"]?.string?.hasPrefix("there is no application chess") == true)
    }

    @Test func aCompromisedWebhookKeyIsReplaced() throws {
        let installation = try Installation()
        let key = try installation.tool(
            "application", "create", "--name", "N", "--client-type", "public", "--client-id", "notes",
            "--redirect-uri", "https://notes.example/cb", "--json"
        ).json()["webhook_key"]
        let kid = try #require(key?["kid"]?.string)
        let replaced = try installation.tool("webhook-key", "compromised", "notes", kid, "--json").json()
        #expect(JSONObject.names(replaced) == ["client_id", "kid", "replaced_by", "secret"])
        let next = try #require(replaced["replaced_by"]?.string)
        #expect(next != kid && replaced["secret"]?.string?.hasPrefix("whsec_") == true)
        let event = try installation.database.connect().first(
            "SELECT CONCAT_WS(' ', seq, event_type, JSON_VALUE(raw_payload, '$.data.replaced_by')) FROM webhook_outbox"
        ) { row in try row.read(String.self) }
        #expect(event == "1 webhook_key.compromised \(next)")

        let again = try installation.tool("webhook-key", "compromised", "notes", kid, "--json")
        #expect(again.exit == .status(1))
        #expect(try again.errorJSON()["message"] == .string("notes has no active webhook key \(kid)"))
        let words = try installation.tool("webhook-key", "compromised", "notes", next)
        #expect(words.output.contains(#/replaced by     whk_\S+\nwebhook secret  whsec_\S+\n/#))
    }

    @Test func whatADeveloperAskedForIsShownAndDecided() throws {
        let installation = try Installation()
        _ = try installation.tool(
            "application", "create", "--name", "Notes", "--client-type", "public", "--client-id", "notes",
            "--redirect-uri", "https://notes.example/1", "https://notes.example/2")
        let before = try installation.tool("application", "show", "notes", "--json").json()
        #expect(before["pending_changes"] == nil)
        #expect(try installation.tool("application", "show", "notes").output.contains("pending        nothing\n"))
        let connection = try installation.database.connect()
        try connection.execute(
            """
            UPDATE applications SET pending_changes =
                '{"name":"Chess","redirect_uris":["https://notes.example/2","https://chess.example/cb"],"app_link_url":null}'
            """)
        let shown = try installation.tool("application", "show", "notes", "--json").json()
        #expect(shown["pending_changes"]?["name"] == "Chess" && shown["name"] == "Notes")
        let words = try installation.tool("application", "show", "notes").output
        let indent = "\n" + String(repeating: " ", count: 15)
        #expect(
            words.contains(
                [
                    "pending        name:", "- Notes", "+ Chess", "redirect_uris:", "- https://notes.example/1",
                    "  https://notes.example/2", "+ https://chess.example/cb",
                ].joined(separator: indent)), "\(words)")
        #expect(try installation.tool("application", "list").output.contains("(changes pending) Notes"))
        #expect(
            try installation.tool("application", "list", "--json").json()["applications"]?.array == [shown])
        #expect(try installation.tool("doctor").output.contains("waiting for approval, new or with changes: 1"))

        let revision = try #require(shown["revision"]?.string)
        #expect(words.contains("revision       \(revision)\n"))
        for command in [
            ["approve", "notes"], ["approve", "notes", "--revision", try #require(before["revision"]?.string)],
            ["refuse", "notes", "--revision", "x"], ["approve", "none"],
        ] {
            let outcome = try installation.tool(["application"] + command + ["--json"])
            #expect(outcome.exit == .status(1), "\(command)")
            #expect(try outcome.errorJSON()["error"] == "refused")
        }
        #expect(try installation.tool("application", "refuse", "notes").exit == .status(64))
        #expect(try installation.tool("application", "show", "notes", "--json").json() == shown)

        let approved = try installation.tool("application", "approve", "notes", "--revision", revision, "--json")
        #expect(approved.exit == .status(0), "\(approved)")
        let after = try installation.tool("application", "show", "notes", "--json").json()
        #expect(try approved.json() == after)
        #expect(after["name"] == "Chess" && after["pending_changes"] == nil && after["status"] == "active")
        #expect(after["redirect_uris"] == ["https://notes.example/2", "https://chess.example/cb"])

        try connection.execute("UPDATE applications SET pending_changes = '{\"name\":\"Go\"}'")
        let next = try installation.tool("application", "show", "notes", "--json").json()["revision"]?.string
        let refused = try installation.tool(
            "application", "refuse", "notes", "--revision", try #require(next), "--json")
        #expect(refused.exit == .status(0), "\(refused)")
        #expect(try refused.json() == after)
        #expect(try installation.tool("doctor").output.contains("none are waiting for approval"))
    }

    @Test func suspends() throws {
        let installation = try Installation()
        try installation.database.connect().executeScript(
            "INSERT INTO applications (client_id, name, client_type, status) VALUES ('notes', 'Notes', 'public', 'active')"
        )
        let suspended = try installation.tool("application", "suspend", "notes", "--json")
        #expect(suspended.exit == .status(0), "\(suspended)")
        #expect(try suspended.json()["status"] == "suspended")
        #expect(try installation.tool("application", "show", "notes", "--json").json() == suspended.json())
        let unknown = try installation.tool("application", "suspend", "none", "--json")
        #expect(unknown.exit == .status(1))
        #expect(try unknown.errorJSON()["error"] == "refused")
    }

    @Test func registersAPublicClientUnderItsOldID() throws {
        let installation = try Installation()
        let outcome = try installation.tool(
            "application", "create", "--name", "체스", "--client-type", "public", "--client-id", "chess-1",
            "--redirect-uri",
            "http://127.0.0.1:3000/cb", "--redirect-uri", "http://[::1]/cb", "--allow-anonymous-grants",
            "--notify-anonymous-swap", "--json")
        #expect(outcome.exit == .status(0))
        let created = try outcome.json()
        #expect(created["client_id"] == "chess-1")
        #expect(created["client_secret"] == nil)
        #expect(created["token_endpoint_auth_method"] == "none")

        let shown = try installation.tool("application", "show", "chess-1", "--json").json()
        #expect(shown["name"] == "체스")
        #expect(shown["redirect_uris"] == ["http://127.0.0.1:3000/cb", "http://[::1]/cb"])
        #expect(shown["allowed_scopes"] == ["openid", "profile:basic", "email"])
        #expect(shown["allow_anonymous_grants"] == true)
        #expect(shown["notify_anonymous_swap"] == true)
        #expect(shown["live_grants"] == 0)
        let words = try installation.tool("application", "show", "chess-1").output
        #expect(words.contains("allow_anonymous_grants notify_anonymous_swap"))

        let listed = try installation.tool("application", "list", "--json").json()
        #expect(listed["applications"]?.array == [shown])
        #expect(try installation.tool("application", "list").output.contains("체스"))
    }

    @Test func saysThatThereIsNone() throws {
        let installation = try Installation()
        let outcome = try installation.tool("application", "show", "chess-1", "--json")
        #expect(outcome.exit == .status(1))
        #expect(try outcome.errorJSON()["error"] == "not_found")
        #expect(try installation.tool("application", "list", "--json").json()["applications"] == [])
    }

    @Test(arguments: [
        (["--name", ""], "the name must have 1 to 200 characters"),
        (["--name", "a\u{7}b"], "no control characters"),
        (["--client-id", "a b"], "a client_id has 1 to 64 of"),
        (["--client-id", String(repeating: "x", count: 65)], "a client_id has 1 to 64 of"),
        (["--client-id", "taken"], "an application with client_id taken already exists"),
        (["--scope", "everything"], "\"everything\" is not a scope"),
        (["--scope", "a:b:c"], "\"a:b:c\" is not a scope"),
        (["--redirect-uri", "http://notes.example/cb"], "(plain_http)"),
        (["--redirect-uri", "https://127.0.0.1/cb"], "(idp_host)"),
        (["--redirect-uri", "my_app://cb"], "(scheme_underscore)"),
        (["--redirect-uri"] + (1...20).map { "https://notes.example/\($0)" }, "1 to 20 redirect URIs, not 21"),
    ])
    func refusesWithAReasonAndChangesNothing(_ arguments: [String], _ reason: String) throws {
        let installation = try Installation()
        let sound = ["--client-type", "public", "--redirect-uri", "https://notes.example/cb", "--json"]
        #expect(
            try installation.tool(["application", "create", "--name", "N", "--client-id", "taken"] + sound).exit
                == .status(0))
        let before = try installation.database.dump()
        let name = arguments.contains("--name") ? [] : ["--name", "N"]
        let outcome = try installation.tool(["application", "create"] + name + arguments + sound)
        #expect(outcome.exit == .status(1))
        #expect(outcome.output.isEmpty)
        let error = try outcome.errorJSON()
        #expect(error["error"] == "refused")
        #expect(error["message"]?.string?.contains(reason) == true, "\(error)")
        #expect(try installation.database.dump() == before)
    }
}

extension JSONObject {
    /// The names of a value's members, in order.
    static func names(_ value: JSONValue) -> [String] {
        guard case .object(let object) = value else { return [] }
        return object.members.map(\.name)
    }
}
