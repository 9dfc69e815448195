import HTTP
import IdentityTokens
import JSON
import MariaDB
import TestSupport
import Testing
import Time

/// The refusals of a swap, and the order of its checks (accounts §1.9).
@Suite struct SwapRefusalTests {
    let app: TestApp
    let scene: SwapScene

    init() throws {
        app = try TestApp()
        scene = try SwapScene(app)
    }

    /// More would not fit into one transaction, or into a server's memory.
    @Test func aHistoryHasALongestLength() throws {
        let (phone, owner) = (try scene.anonymous(), try scene.identified())
        let kept = try app.count("SELECT COUNT(*) FROM login_events WHERE user_id = ?", phone.userID)
        try app.change(
            """
            INSERT INTO login_events (user_id, event, user_agent) SELECT ?, 'signed_in', REPEAT('鴨', 500)
            FROM seq_1_to_25001 WHERE seq <= 25001 - ?
            """, phone.userID, kept)
        for answer in [try scene.preview(phone, into: owner), try scene.swap(phone, into: owner)] {
            #expect(answer.description == #"422 {"error":"account_too_large"}"#)
        }
        try app.change("DELETE FROM login_events WHERE user_id = ? ORDER BY id LIMIT 1", phone.userID)
        #expect(try scene.swap(phone, into: owner).status == 200)
    }

    /// Requests of agents that a swap would delete are copied into its journal.
    @Test func requestsThatAreDeletedHaveALargestSize() throws {
        let (phone, owner) = (try scene.anonymous(), try scene.identified())
        let agent = try scene.agent(phone.userID)
        for _ in 0..<2 { try scene.approval(phone.userID, of: agent) }
        try app.change(
            "UPDATE agent_approvals SET sealed_request = REPEAT('x', 8388609) WHERE user_id = ?", phone.userID)
        let without: [(String, JSONValue)] = [("merge_options", ["agent_approvals": false])]
        #expect(
            try scene.swap(phone, into: owner, without).description == #"422 {"error":"account_too_large"}"#)
        #expect(try app.count("SELECT COUNT(*) FROM users WHERE id = ?", phone.userID) == 1)
        #expect(try scene.swap(phone, into: owner).status == 200)
    }

    /// So are what the phone shows of them, and many small ones.
    @Test(arguments: [(600, 10_000), (34_000, 0)])
    func requestsThatAreDeletedHaveALargestSize(count: Int, characters: Int) throws {
        let (phone, owner) = (try scene.anonymous(), try scene.identified())
        try app.change(
            """
            INSERT INTO agent_approvals (user_id, agent_id, public_id, status, display_payload_hash, body)
            SELECT ?, ?, CONCAT('aar_', LPAD(seq, 16, '0')), 'cancelled', SHA2(seq, 256), REPEAT('鴨', ?)
            FROM seq_1_to_40000 WHERE seq <= ?
            """, phone.userID, try scene.agent(phone.userID), characters, count)
        let without: [(String, JSONValue)] = [("merge_options", ["agent_approvals": false])]
        for answer in [
            try scene.preview(phone, into: owner, without), try scene.swap(phone, into: owner, without),
        ] {
            #expect(answer.description == #"422 {"error":"account_too_large"}"#)
        }
        #expect(try app.count("SELECT COUNT(*) FROM users WHERE id = ?", phone.userID) == 1)
    }

    /// A swap that deletes a grant copies the refresh tokens, of which each refresh leaves one.
    @Test func refreshTokensThatAreDeletedHaveALargestNumber() throws {
        let (phone, owner) = (try scene.anonymous(), try scene.identified())
        let grant = try scene.grant(phone.userID, scene.relyingParty())
        try app.change(
            """
            INSERT INTO refresh_tokens (digest, refresh_family_id, expires_at)
            SELECT UNHEX(SHA2(seq, 256)), f.id, ? FROM refresh_families f JOIN seq_1_to_25001
            WHERE f.grant_id = ?
            """, app.time.now + .seconds(86_400), grant)
        let without: [(String, JSONValue)] = [("merge_options", ["rps": []])]
        for answer in [
            try scene.preview(phone, into: owner, without), try scene.swap(phone, into: owner, without),
        ] {
            #expect(answer.description == #"422 {"error":"account_too_large"}"#)
        }
        #expect(try app.count("SELECT COUNT(*) FROM users WHERE id = ?", phone.userID) == 1)
        // All of it moves.
        #expect(try scene.preview(phone, into: owner).status == 200)
        #expect(try scene.swap(phone, into: owner).status == 200)
    }

    /// A valid swap, which faults are added to.
    private struct Draft {
        var isIdentified = false
        var isLimited = false
        var token: String?
        var members: [String: JSONValue] = [:]
        var ifMatch: String?
    }

    /// One fault of a request. If there are several, the answer names the one of the earliest step.
    private struct Fault {
        let step: Int
        let name: String
        let answer: String
        let spoil: (inout Draft) -> Void
    }

    @Test func theFirstOfTwoFaultsIsAnswered() throws {
        let cast = try Cast(scene)
        let faults = faults(cast)
        // The history of whoever was to take the account says that somebody tried.
        try app.expectUnchanged(butFor: ["login_events", "rate_limits"]) {
            for isDryRun in [false, true] {
                for first in faults {
                    #expect(send([first], cast, isDryRun) == first.answer, "\(first.name)")
                    for second in faults where second.step > first.step {
                        #expect(
                            send([second, first], cast, isDryRun) == first.answer, "\(first.name) and \(second.name)")
                    }
                }
            }
        }
        let noted = try app.column("SELECT DISTINCT event FROM login_events WHERE user_id <> ?", cast.b.id)
        #expect(noted.contains("refused"))
        #expect(send([], cast, false).hasPrefix("200 "), "nothing wrong but the faults")
        #expect(!app.log.lines.contains { $0.hasPrefix("warning") || $0.hasPrefix("error") })
    }

    private struct Cast {
        let a: Phone
        let b: IdentifiedUser
        /// PAKs by whether their user is identified and whether they may only read.
        let tokens: [[String]]
        let revoked: String
        let appBound: String
        let ticket: String

        init(_ scene: SwapScene) throws {
            a = try scene.anonymous()
            b = try scene.identified()
            tokens = [[a.token, "lpk_live_a-reads"], ["lpk_live_b", "lpk_live_b-reads"]]
            revoked = "lpk_live_revoked"
            appBound = "lpk_live_app-bound"
            for token in [tokens[0][1], revoked, appBound] { try scene.pak(token, of: a.userID, on: a.deviceID) }
            for token in tokens[1] { try scene.pak(token, of: b.id, on: nil) }
            ticket = try scene.ticket(for: a.userID, subject: b.subject)
            let db = scene.db
            for token in [tokens[0][1], tokens[1][1]] {
                try db.execute("UPDATE paks SET scopes = 'profile:read' WHERE digest = UNHEX(SHA2(?, 256))", token)
            }
            try db.execute(
                "UPDATE paks SET revoked_at = created_at WHERE digest = UNHEX(SHA2(?, 256))", revoked)
            try db.execute(
                "UPDATE paks SET application_id = ?, scopes = 'profile:write' WHERE digest = UNHEX(SHA2(?, 256))",
                try scene.relyingParty().id, appBound)

            let (anonymous, deleted) = (try scene.anonymous(), try scene.identified())
            try scene.identity("another-anonymous", of: anonymous.userID)
            try scene.identity("own", of: a.userID)
            try scene.identity("deleted", of: deleted.id)
            try db.execute(
                "UPDATE users SET deleted_at = ?, purge_at = ? WHERE id = ?", scene.app.time.now,
                scene.app.time.now + .seconds(86_400), deleted.id)
        }
    }

    private func faults(_ cast: Cast) -> [Fault] {
        let invalid = #"400 {"error":"invalid_request"}"#
        let purge = (app.time.now + .seconds(86_400)).iso8601
        func fault(_ step: Int, _ name: String, _ answer: String, _ spoil: @escaping (inout Draft) -> Void) -> Fault {
            Fault(step: step, name: name, answer: answer, spoil: spoil)
        }
        func fault(_ step: Int, _ answer: String, _ member: String, _ value: JSONValue?) -> Fault {
            fault(step, "\(member) \(value.map { "\($0)" } ?? "absent")", answer) { $0.members[member] = value }
        }
        func subject(_ subject: String, _ answer: String) -> Fault {
            let token = app.issuer(.apple).token(subject: subject)
            return fault(6, "subject \(subject)", answer) { $0.members["identity_token"] = .string(token) }
        }
        let otherAudience = app.issuer(.apple).token(subject: cast.b.subject, audience: "com.example.other")
        return [
            fault(0, "no token", #"401 {"error":"invalid_token"}"#) { $0.token = "" },
            fault(0, "unknown token", #"401 {"error":"invalid_token"}"#) { $0.token = "lpk_live_unknown" },
            fault(0, "revoked token", #"401 {"error":"invalid_token"}"#) { $0.token = cast.revoked },
            fault(1, "limited", #"403 {"error":"insufficient_scope"}"#) { $0.isLimited = true },
            fault(1, "app-bound", #"403 {"error":"insufficient_scope"}"#) { $0.token = cast.appBound },
            fault(2, "identified", #"422 {"error":"non_anonymous_caller"}"#) { $0.isIdentified = true },
            fault(3, #"422 {"error":"unknown_provider"}"#, "provider", nil),
            fault(3, #"422 {"error":"unknown_provider"}"#, "provider", .null),
            fault(3, #"422 {"error":"unknown_provider"}"#, "provider", ""),
            fault(3, #"422 {"error":"unknown_provider"}"#, "provider", "Apple"),
            fault(4, invalid, "raw_nonce", nil),
            fault(4, invalid, "raw_nonce", ""),
            fault(4, invalid, "raw_nonce", 5),
            fault(4, invalid, "merge_options", []),
            fault(4, invalid, "merge_options", ["rps": "logi_a"]),
            fault(4, invalid, "merge_options", ["rps": ["logi_a", 5]]),
            fault(4, invalid, "merge_options", ["agent_approvals": "false"]),
            fault(4, invalid, "merge_options", ["notifications": 0]),
            fault(4, invalid, "full_name", "Ann Lee"),
            fault(4, invalid, "full_name", ["given_name": 1]),
            fault(4, invalid, "full_name", ["given_name": .string(String(repeating: "n", count: 201))]),
            fault(4, invalid, "device_uuid", 5),
            fault(4, invalid, "platform", []),
            fault(5, "wrong audience", #"422 {"error":"invalid_identity_token","error_description":"wrong audience"}"#)
            {
                $0.members["identity_token"] = .string(otherAudience)
            },
            fault(
                5, #"422 {"error":"invalid_identity_token","error_description":"nonce mismatch"}"#, "raw_nonce", "other"
            ),
            subject("nobody", #"422 {"error":"identity_does_not_resolve_to_existing_account"}"#),
            subject("own", #"422 {"error":"identity_does_not_resolve_to_existing_account"}"#),
            subject("another-anonymous", #"422 {"error":"identity_belongs_to_another_anonymous_user"}"#),
            subject("deleted", #"422 {"error":"account_deleted","purge_at":"\#(purge)"}"#),
            fault(7, "other plan", #"412 {"error":"plan_changed"}"#) { $0.ifMatch = "\"other\"" },
        ]
    }

    private func send(_ faults: [Fault], _ cast: Cast, _ isDryRun: Bool) -> String {
        var draft = Draft()
        draft.members = [
            "provider": "apple", "identity_token": .string(app.issuer(.apple).token(subject: cast.b.subject)),
            "raw_nonce": "nonce",
        ]
        if isDryRun { draft.members["dry_run"] = true }
        for fault in faults { fault.spoil(&draft) }
        let token = draft.token ?? cast.tokens[draft.isIdentified ? 1 : 0][draft.isLimited ? 1 : 0]
        let answer = scene.client.send(
            .post, "/api/v1/me/anonymous_swap", draft.members.asJSON, token: token.isEmpty ? nil : token,
            headers: draft.ifMatch.map { [("if-match", $0)] } ?? [])
        let challenge =
            answer.status == 401 || answer.status == 403 ? "Bearer error=\"\(answer.error ?? "")\"" : nil
        #expect(answer.header("WWW-Authenticate") == challenge)
        #expect(answer.header("Cache-Control") == "no-store")
        return answer.description
    }

    // Bodies as such.

    @Test func aBodyThatIsNoObject() throws {
        let (a, b) = (try scene.anonymous(), try scene.identified())
        try scene.pak("lpk_live_b", of: b.id, on: nil)
        for body in ["[]", "5", "\"text\"", "{", "{}{}", "\u{FEFF}{}", "nul"] {
            #expect(send(body, a.token).description == #"400 {"error":"invalid_request"}"#, "\(body)")
            #expect(send(body, "lpk_live_b").description == #"422 {"error":"non_anonymous_caller"}"#, "\(body)")
            #expect(send(body, "lpk_live_unknown").description == #"401 {"error":"invalid_token"}"#, "\(body)")
        }
    }

    private func send(_ body: String, _ token: String) -> Answer {
        scene.client.send(.post, "/api/v1/me/anonymous_swap", bytes: Array(body.utf8), token: token)
    }

    @Test func aBadIdempotencyKey() throws {
        let (a, b) = (try scene.anonymous(), try scene.identified())
        try app.expectUnchanged {
            for key in ["", "ㄱ", String(repeating: "k", count: 256), "two words"] {
                let answer = scene.client.send(try scene.swapRequest(a, into: b, key: key))
                #expect(answer.description == #"400 {"error":"invalid_request"}"#, "\(key)")
            }
        }
    }
}

extension [String: JSONValue] {
    var asJSON: JSONValue { .object(JSONObject(map { ($0.key, $0.value) })) }
}
