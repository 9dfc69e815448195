import HTTP
import IdentityTokens
import JSON
import MariaDB
import TestSupport
import Testing
import Time

/// What a swap moves, what it drops, and its answer (accounts §1.9).
@Suite struct SwapTests {
    let app: TestApp
    let scene: SwapScene

    init() throws {
        app = try TestApp()
        scene = try SwapScene(app)
    }

    @Test(arguments: SwapScene.Proof.allCases) func theDocumentsExample(by proof: SwapScene.Proof) throws {
        let a = try scene.anonymous()
        let b = try scene.identified(name: nil, email: "user@example.com")
        try scene.exampleAssets(of: a, beside: b)
        try scene.db.execute("UPDATE devices SET attestation_verified = 1 WHERE id = ?", a.deviceID)
        let invariants = try SwapInvariants(scene)
        app.time.advance(by: .seconds(60))

        let members: [(String, JSONValue)] = [
            ("full_name", ["given_name": "다혜", "family_name": "김"]), ("device_uuid", .string(a.uuid)),
            ("platform", "ios"),
        ]
        let answer = try scene.swap(a, into: b, by: proof, members)

        let token = try #require(answer["access_token"]?.string)
        let secret = try #require(answer["device_secret"]?.string)
        let golden = """
            {"user":{"id":\(b.id),"contact_email":"user@example.com","name":"김다혜","anonymous":false},\
            "access_token":"\(token)","token_type":"Bearer",\
            "scopes":["profile:read","profile:write","login_history:read","account:delete","agent_approvals:read",\
            "agent_approvals:manage"],\
            "merged":{"rps":{"transferred":2,"skipped_duplicate":1},\
            "agent_approvals":{"transferred":5,"skipped_duplicate":0},"notifications":{"transferred":3}},\
            "needs_onboarding":false,\
            "device":{"id":\(a.deviceID),"device_uuid":"\(a.uuid)","platform":"ios","attestation_verified":true,\
            "first_seen_at":"2026-05-12T07:00:00Z","last_seen_at":"2026-05-12T07:01:00Z"},\
            "device_secret":"\(secret)"}
            """
        #expect(answer.status == 200)
        #expect(answer.text == golden)
        #expect(answer.header("Cache-Control") == "no-store")
        #expect(answer.header("Content-Type") == "application/json")
        #expect(answer.header("X-Request-Id") == answer.header("X-Logi-Request-Id"))
        #expect(token.wholeMatch(of: /lpk_live_[A-Za-z0-9_-]{43}/) != nil)
        #expect(secret.wholeMatch(of: /ds_[A-Za-z0-9_-]{43}/) != nil)
        try invariants.check([DoneSwap(from: a.userID, into: b.id)])
    }

    // The selection.

    private struct Selection {
        /// The numbers (0 to 2) of the relying parties whose grants move; nil for all.
        var rps: [Int]?
        var unknownRPs: [String] = []
        var options: [(String, JSONValue)] = []
        /// Grants transferred, skipped; approvals transferred, skipped; notifications.
        var counts: [Int64]
    }

    /// A has grants 0, 1 and 2, of which B has 1; four approvals, of which B has one pending, and three notifications.
    private static let selections = [
        Selection(counts: [2, 1, 3, 1, 3]),
        Selection(options: [("agent_approvals", true), ("notifications", true)], counts: [2, 1, 3, 1, 3]),
        Selection(options: [("agent_approvals", .null), ("notifications", .null)], counts: [2, 1, 3, 1, 3]),
        Selection(rps: [], counts: [0, 0, 3, 1, 3]),
        Selection(rps: [0], counts: [1, 0, 3, 1, 3]),
        Selection(rps: [1], counts: [0, 1, 3, 1, 3]),
        Selection(rps: [2, 1, 0], counts: [2, 1, 3, 1, 3]),
        Selection(rps: [2, 2], counts: [1, 0, 3, 1, 3]),
        Selection(rps: [], unknownRPs: ["logi_unknown", ""], counts: [0, 0, 3, 1, 3]),
        Selection(rps: [0], unknownRPs: ["logi_unknown", "ㄱ"], counts: [1, 0, 3, 1, 3]),
        Selection(options: [("agent_approvals", false)], counts: [2, 1, 0, 0, 3]),
        Selection(options: [("notifications", false)], counts: [2, 1, 3, 1, 0]),
        Selection(
            rps: [], options: [("agent_approvals", false), ("notifications", false)], counts: [0, 0, 0, 0, 0]),
    ]

    @Test func mergeOptions() throws {
        for selection in Self.selections { try check(selection) }
    }

    private func check(_ selection: Selection) throws {
        let (a, b) = (try scene.anonymous(), try scene.identified())
        let rps = try (0..<3).map { _ in try scene.relyingParty() }
        let grants = try rps.map { try scene.grant(a.userID, $0) }
        try scene.grant(b.id, rps[1])
        let (agent, ownAgent) = (try scene.agent(a.userID), try scene.agent(b.id))
        for status in ["pending", "approved"] {
            try scene.approval(a.userID, of: agent, payload: "same", status: status)
            try scene.approval(a.userID, of: agent, status: status)
        }
        try scene.approval(b.id, of: ownAgent, payload: "same")
        try scene.notification(requested: a.userID)
        try scene.notification(requested: b.id, approved: a.userID)
        try scene.notification(requested: nil, approved: a.userID)
        try scene.notification(requested: b.id)
        let invariants = try SwapInvariants(scene)

        let clients = selection.rps.map { numbers in
            JSONValue.array((numbers.map { rps[$0].clientID } + selection.unknownRPs).map(JSONValue.string))
        }
        let options = [("rps", clients ?? .null)] + selection.options
        let members: [(String, JSONValue)] = [("merge_options", .object(JSONObject(options)))]
        let preview = try scene.preview(a, into: b, members)
        let answer = try scene.swap(a, into: b, members)

        #expect(answer["merged"] == merged(selection.counts), "\(selection)")
        #expect(preview["merged"] == answer["merged"], "\(selection)")
        func isOn(_ option: String) -> Bool { !selection.options.contains { $0.0 == option && $0.1 == false } }
        try invariants.check(
            [
                DoneSwap(
                    from: a.userID, into: b.id, selectedGrants: selection.rps.map { Set($0.map { grants[$0] }) },
                    agentApprovals: isOn("agent_approvals"), notifications: isOn("notifications"))
            ], "\(selection)")
    }

    private func merged(_ counts: [Int64]) -> JSONValue {
        [
            "rps": ["transferred": .integer(counts[0]), "skipped_duplicate": .integer(counts[1])],
            "agent_approvals": ["transferred": .integer(counts[2]), "skipped_duplicate": .integer(counts[3])],
            "notifications": ["transferred": .integer(counts[4])],
        ]
    }

    @Test func onlyPendingApprovalsOnBothSidesAreDuplicates() throws {
        let (a, b) = (try scene.anonymous(), try scene.identified())
        let (agent, ownAgent) = (try scene.agent(a.userID), try scene.agent(b.id))
        let statuses = ["pending", "approved", "rejected", "expired", "cancelled"]
        var duplicates: Set<Int> = []
        for mine in statuses {
            for own in statuses {
                let approval = try scene.approval(a.userID, of: agent, payload: "\(mine) \(own)", status: mine)
                try scene.approval(b.id, of: ownAgent, payload: "\(mine) \(own)", status: own)
                if mine == "pending", own == "pending" { duplicates.insert(approval) }
            }
        }
        // Two of one payload on one side: each is a duplicate of B's, and B's count once.
        try scene.approval(b.id, of: ownAgent, payload: "twice")
        try scene.approval(b.id, of: ownAgent, payload: "twice")
        duplicates.insert(try scene.approval(a.userID, of: agent, payload: "twice"))
        duplicates.insert(try scene.approval(a.userID, of: agent, payload: "twice"))
        try scene.approval(a.userID, of: agent, payload: "mine twice")
        try scene.approval(a.userID, of: agent, payload: "mine twice")
        let before = Set(try scene.ids("SELECT id FROM agent_approvals"))

        let answer = try scene.swap(a, into: b)

        #expect(answer["merged"]?["agent_approvals"] == ["transferred": 26, "skipped_duplicate": 3])
        let after = Set(try scene.ids("SELECT id FROM agent_approvals WHERE user_id = ?", b.id))
        #expect(after == before.subtracting(duplicates))
        #expect(try scene.ids("SELECT id FROM agents WHERE user_id = ?", b.id) == [agent, ownAgent])
    }

    @Test func aNotificationNamingAInBothColumnsCountsOnce() throws {
        let (a, b) = (try scene.anonymous(), try scene.identified())
        let both = try scene.notification(requested: a.userID, approved: a.userID)
        let answer = try scene.swap(a, into: b)
        #expect(answer["merged"]?["notifications"] == ["transferred": 1])
        let moved = try scene.ids(
            "SELECT id FROM push_approval_requests WHERE requested_user_id = ? AND approved_user_id = ?", b.id, b.id)
        #expect(moved == [both])
    }

    @Test func unselectedNotificationsLoseA() throws {
        let (a, b) = (try scene.anonymous(), try scene.identified())
        try scene.notification(requested: a.userID, approved: b.id)
        let approved = try scene.notification(requested: b.id, approved: a.userID)
        let untouched = try scene.notification(requested: b.id, approved: b.id)
        _ = try scene.swap(a, into: b, [("merge_options", ["notifications": false])])
        #expect(try scene.ids("SELECT id FROM push_approval_requests ORDER BY id") == [approved, untouched])
        #expect(
            try scene.ids("SELECT id FROM push_approval_requests WHERE approved_user_id IS NULL") == [approved])
    }

    // Grants.

    @Test func revokedGrantsCountOnNeitherSide() throws {
        let (a, b) = (try scene.anonymous(), try scene.identified())
        let (first, second) = (try scene.relyingParty(), try scene.relyingParty())
        let live = try scene.grant(a.userID, first)
        let own = try scene.grant(b.id, first, revoked: true)
        try scene.grant(a.userID, second, revoked: true)
        let other = try scene.grant(b.id, second)

        let answer = try scene.swap(a, into: b)

        #expect(answer["merged"]?["rps"] == ["transferred": 1, "skipped_duplicate": 0])
        #expect(try scene.ids("SELECT id FROM grants WHERE user_id = ? ORDER BY id", b.id) == [live, own, other])
        #expect(try scene.ids("SELECT application_id FROM absorbed_subs") == [first.id])
    }

    @Test func movedGrantsKeepTheirSubAndWhatWasIssuedUnderThem() throws {
        let (a, b) = (try scene.anonymous(), try scene.identified())
        let (moving, duplicate, declined) = (
            try scene.relyingParty(), try scene.relyingParty(), try scene.relyingParty()
        )
        let moved = try scene.grant(a.userID, moving, sub: "sub-at-moving")
        try scene.grant(a.userID, duplicate, sub: "sub-at-duplicate")
        try scene.grant(a.userID, declined, sub: "sub-at-declined")
        let own = try scene.grant(b.id, duplicate)
        let selected: JSONValue = [.string(moving.clientID), .string(duplicate.clientID)]

        _ = try scene.swap(a, into: b, [("merge_options", ["rps": selected])])

        let grants = try scene.db.all("SELECT id, user_id, sub, scopes FROM grants ORDER BY id") { row in
            "\(try row.read(Int.self)) \(try row.read(Int.self)) \(try row.read(String.self)) "
                + (try row.read(String.self))
        }
        #expect(grants == ["\(moved) \(b.id) sub-at-moving openid profile", "\(own) \(b.id) \(b.id) openid profile"])
        #expect(try scene.ids("SELECT grant_id FROM authorization_codes ORDER BY grant_id") == [moved, own])
        #expect(try scene.ids("SELECT grant_id FROM refresh_families ORDER BY grant_id") == [moved, own])
        // The declined connection leaves nothing.
        let absorbed = try scene.db.all(
            """
            SELECT application_id, sub, canonical_user_id, via, was_anonymous, occurred_at FROM absorbed_subs
            ORDER BY application_id
            """
        ) { row in
            "\(try row.read(Int.self)) \(try row.read(String.self)) \(try row.read(Int.self)) "
                + "\(try row.read(String.self)) \(try row.read(Bool.self)) \(try row.read(Timestamp.self).iso8601)"
        }
        let now = app.time.now.iso8601
        #expect(
            absorbed == [
                "\(moving.id) sub-at-moving \(b.id) anonymous_swap true \(now)",
                "\(duplicate.id) sub-at-duplicate \(b.id) anonymous_swap true \(now)",
            ])
    }

    @Test func swapsAddUp() throws {
        let b = try scene.identified()
        let rps = try (0..<3).map { _ in try scene.relyingParty() }
        let all = try (1...3).map { count in
            let a = try scene.anonymous()
            for rp in rps[..<count] { try scene.grant(a.userID, rp) }
            return a
        }
        let invariants = try SwapInvariants(scene)
        let counts = try all.map { try scene.swap($0, into: b)["merged"]?["rps"] }
        #expect(
            counts == [
                ["transferred": 1, "skipped_duplicate": 0], ["transferred": 1, "skipped_duplicate": 1],
                ["transferred": 1, "skipped_duplicate": 2],
            ])
        try invariants.check(all.map { DoneSwap(from: $0.userID, into: b.id) })
    }

    // Names and addresses.

    @Test func aBlankNameIsFilled() throws {
        let names = [
            ("다혜", "김", "김다혜"), ("太郎", "山田", "山田太郎"), ("さくら", "山田", "山田さくら"), ("Dahye", "Kim", "Dahye Kim"),
            ("Dahye", "김", "Dahye 김"), ("다혜", "Kim", "다혜 Kim"), ("다혜", "", "다혜"), ("", "김", "김"),
            ("  Ann ", " Lee ", "Ann Lee"),
        ]
        for (given, family, name) in names {
            for blank in [nil, "", "  "] {
                let (a, b) = (try scene.anonymous(), try scene.identified(name: blank))
                let fullName: JSONValue = ["given_name": .string(given), "family_name": .string(family)]
                let answer = try scene.swap(a, into: b, [("full_name", fullName)])
                #expect(answer["user"]?["name"] == .string(name))
                #expect(try scene.value("SELECT name FROM users WHERE id = ?", b.id) == name)
            }
        }
    }

    @Test func aNameThatIsThereStays() throws {
        let (a, b) = (try scene.anonymous(), try scene.identified(name: "Bea"))
        let answer = try scene.swap(a, into: b, [("full_name", ["given_name": "다혜", "family_name": "김"])])
        #expect(answer["user"]?["name"] == "Bea")
        #expect(try scene.value("SELECT name FROM users WHERE id = ?", b.id) == "Bea")
    }

    @Test func withoutANameItStaysBlank() throws {
        for fullName in [.null, [:], ["given_name": "  ", "family_name": .null]] as [JSONValue] {
            let (a, b) = (try scene.anonymous(), try scene.identified(name: nil))
            let answer = try scene.swap(a, into: b, [("full_name", fullName)])
            #expect(answer["user"]?["name"] == .null)
        }
    }

    @Test func addressesAreNeverTouched() throws {
        let (a, b) = (try scene.anonymous(), try scene.identified(email: nil))
        let token = app.issuer(.apple).token(
            subject: b.subject, email: "someone@icloud.com", emailVerified: true)
        let proof: [(String, JSONValue)] = [
            ("provider", "apple"), ("raw_nonce", "nonce"), ("identity_token", .string(token)),
        ]
        let request = RepeatableRequest(
            method: .post, path: "/api/v1/me/anonymous_swap", body: .object(JSONObject(proof)), token: a.token)
        let answer = scene.client.send(request)
        #expect(answer["user"]?["contact_email"] == .null)
        #expect(answer["needs_onboarding"] == true)
        let untouched = "SELECT id FROM users WHERE contact_email IS NULL AND login_email IS NULL" as StaticString
        #expect(try scene.ids(untouched) == [b.id])
    }

    @Test func anImportedSyntheticAddressIsNeitherShownNorTouched() throws {
        let (a, b) = (try scene.anonymous(), try scene.identified(email: "u17@import.internal"))
        try scene.db.execute("UPDATE users SET login_email = 'u17@import.internal' WHERE id = ?", b.id)
        let answer = try scene.swap(a, into: b)
        #expect(answer["user"]?["contact_email"] == .null)
        #expect(answer["needs_onboarding"] == true)
        #expect(try scene.value("SELECT contact_email FROM users WHERE id = ?", b.id) == "u17@import.internal")
        #expect(try scene.value("SELECT login_email FROM users WHERE id = ?", b.id) == "u17@import.internal")
    }

    // Devices and keys.

    @Test func otherDevicesOfAGo() throws {
        let (a, b) = (try scene.anonymous(), try scene.identified())
        let other = try scene.phone(of: a.userID)
        let own = try scene.phone(of: b.id)
        let answer = try scene.swap(a, into: b)

        #expect(answer["device"]?["id"]?.integer == a.deviceID)
        #expect(try scene.ids("SELECT id FROM devices ORDER BY id") == [a.deviceID, own.id])
        #expect(scene.client.send(.get, "/api/v1/me", token: other.token).status == 401)
        #expect(scene.client.send(.get, "/api/v1/me", token: own.token)["user"]?["id"]?.integer == b.id)
        // Its UUID is nobody's now: a new installation may have it.
        let fresh = scene.client.send(
            .post, "/api/v1/devices", ["device_uuid": .string(other.uuid), "platform": "ios"])
        #expect(fresh["user"]?["anonymous"] == true)
    }

    @Test func thePAKOfAnotherPhoneTakesItsOwnPhoneAlong() throws {
        let (a, b) = (try scene.anonymous(), try scene.identified())
        let other = try scene.phone(of: a.userID)
        var caller = a
        caller.token = other.token
        let answer = try scene.swap(caller, into: b)
        #expect(answer["device"]?["id"]?.integer == other.id)
        #expect(try scene.ids("SELECT id FROM devices") == [other.id])
    }

    @Test func aPAKWithoutDevice() throws {
        let (a, b) = (try scene.anonymous(), try scene.identified())
        try scene.db.execute("UPDATE paks SET device_id = NULL WHERE user_id = ?", a.userID)
        let answer = try scene.swap(a, into: b)
        #expect(answer.status == 200)
        #expect(answer["device"] == .null)
        #expect(answer["device_secret"] == nil)
        #expect(try scene.ids("SELECT id FROM devices") == [])
        #expect(try scene.ids("SELECT id FROM paks WHERE user_id = ? AND device_id IS NULL", b.id).count == 1)
    }

    @Test func theDeviceLosesItsApplicationAndBGetsAFullPAK() throws {
        let (a, b) = (try scene.anonymous(), try scene.identified())
        try scene.db.execute(
            "UPDATE devices SET application_id = ? WHERE id = ?", try scene.relyingParty().id, a.deviceID)
        let answer = try scene.swap(a, into: b)
        #expect(answer["scopes"]?.array?.count == 6)
        #expect(try scene.ids("SELECT id FROM devices WHERE application_id IS NULL") == [a.deviceID])
        #expect(try scene.ids("SELECT id FROM paks WHERE application_id IS NULL AND user_id = ?", b.id).count == 1)
    }

    @Test func bKeepsItsOtherKeys() throws {
        let (a, b) = (try scene.anonymous(), try scene.identified())
        let phones = try (0..<6).map { _ in try scene.phone(of: b.id) }
        _ = try scene.swap(a, into: b)
        for phone in phones {
            #expect(scene.client.send(.get, "/api/v1/me", token: phone.token)["user"]?["id"]?.integer == b.id)
        }
    }

    @Test func deviceAndPlatformOnlyLabel() throws {
        let long = String(repeating: "각", count: 150)
        let cases: [(uuid: String?, platform: String?, label: String?)] = [
            ("anything at all", "toaster", "anything at all"), (nil, "web", "web"), (nil, nil, nil),
            (long, long, String(long.prefix(100))),
            ("'\"\\\u{0}\n\u{1F9D1}\u{200D}\u{1F680}", "", "'\"\\\u{0}\n\u{1F9D1}\u{200D}\u{1F680}"),
        ]
        for (uuid, platform, label) in cases {
            let (a, b) = (try scene.anonymous(), try scene.identified())
            let members = [("device_uuid", uuid), ("platform", platform)].map { name, value in
                (name, value.map(JSONValue.string) ?? .null)
            }
            let answer = try scene.swap(a, into: b, members)
            #expect(answer.status == 200)
            #expect(answer["device"]?["device_uuid"] == .string(a.uuid))
            #expect(answer["device"]?["platform"] == "ios")
            #expect(try scene.value("SELECT label FROM paks WHERE user_id = ?", b.id) == label)
            let audited = try scene.db.first(
                """
                SELECT JSON_VALUE(details, '$.device_uuid'), JSON_VALUE(details, '$.platform')
                FROM audit_log WHERE action = 'user.swapped' AND user_id = ?
                """, b.id
            ) { row in [try row.read(String?.self), try row.read(String?.self)] }
            #expect(audited == [uuid, platform].map { $0.map { String($0.prefix(100)) } })
        }
    }

    // Resolution.

    @Test func theSurvivorOfAnAbsorbedHolderGetsIt() throws {
        let (a, b, absorbed) = (try scene.anonymous(), try scene.identified(), try scene.identified())
        try scene.db.execute(
            """
            INSERT INTO identity_links (primary_user_id, linked_user_id, merged_via, idempotency_key)
            VALUES (?, ?, 'session_token', 'st:1')
            """, b.id, absorbed.id)
        let answer = try scene.swap(a, into: absorbed)
        #expect(answer["user"]?["id"]?.integer == b.id)
        #expect(try scene.ids("SELECT id FROM users ORDER BY id") == [b.id, absorbed.id])
    }

    @Test func anIdentityOfASurvivesNoSwap() throws {
        let (a, b) = (try scene.anonymous(), try scene.identified())
        // Damaged data: an anonymous account has no identity.
        try scene.identity("google-subject", .google, of: a.userID)
        #expect(try scene.swap(a, into: b).status == 200)
        #expect(try scene.ids("SELECT user_id FROM identities") == [b.id])
    }

    // The end of A.

    @Test func nothingNamesA() throws {
        let (a, b) = (try scene.anonymous(), try scene.identified())
        try scene.exampleAssets(of: a, beside: b)
        try scene.grant(a.userID, try scene.relyingParty(), revoked: true)
        try scene.grant(a.userID, try scene.relyingParty())
        try scene.phone(of: a.userID)
        try scene.identity("google-subject", .google, of: a.userID)
        _ = try scene.ticket(for: a.userID, subject: b.subject)
        _ = try scene.mergeToken(of: a.userID)
        let owned = try scene.relyingParty()
        try scene.db.execute("UPDATE applications SET owner_user_id = ? WHERE id = ?", a.userID, owned.id)
        try scene.db.execute(
            """
            INSERT INTO web_sessions (digest, user_id, expires_at) VALUES (UNHEX(SHA2('session', 256)), ?, ?)
            """, a.userID, app.time.now + .seconds(300))
        try scene.db.execute("INSERT INTO login_events (user_id, event) VALUES (?, 'bootstrap')", a.userID)
        try scene.db.execute(
            """
            INSERT INTO merge_otps (requester_id, target_key, code_mac, expires_at)
            VALUES (?, UNHEX(SHA2('target', 256)), UNHEX(SHA2('code', 256)), ?)
            """, a.userID, app.time.now + .seconds(300))

        try scene.db.execute(
            """
            INSERT INTO agent_approval_history
                (approval, sequence, user_id, event, at, display_payload_hash, previous_digest, digest)
            VALUES ('aar_1', 1, ?, 'requested', ?, '', REPEAT('a', 32), REPEAT('b', 32))
            """, a.userID, app.time.now)

        // Nobody anonymous survives a merge, and whom one absorbed has no PAK to swap with; whoever unlinks an identity has
        // another one, and is not anonymous. So these cannot name A.
        let never: Set = [
            "identity_links.primary_user_id", "identity_links.linked_user_id", "absorbed_subs.canonical_user_id",
            "deletion_notices.user_id", "apple_revocations.user_id", "merge_journals.survivor_user_id",
            "merge_journals.absorbed_user_id",
        ]
        let before = try scene.mentions(of: [a.userID])
        #expect(Set(before.filter { $0.value == 0 }.keys) == never, "every column must be tried")
        #expect(try scene.swap(a, into: b).status == 200)
        // The journal, for an undo.
        #expect(
            try scene.mentions(of: [a.userID]).filter { $0.value > 0 } == ["merge_journals.absorbed_user_id": 1])
    }

    @Test func auditRowsStayWithoutA() throws {
        let (a, b) = (try scene.anonymous(), try scene.identified())
        let history = try scene.ids("SELECT id FROM audit_log WHERE user_id = ? ORDER BY id", a.userID)
        let actions = try actions(of: history)
        #expect(actions == ["user.created", "device.created", "pak.issued"])
        let answer = try scene.swap(a, into: b)

        #expect(try scene.ids("SELECT id FROM audit_log WHERE user_id IS NULL ORDER BY id") == history)
        #expect(try self.actions(of: history) == actions)
        let new = try scene.ids("SELECT id FROM audit_log WHERE user_id = ? ORDER BY id", b.id)
        #expect(
            try self.actions(of: new) == ["device.reassigned", "device.secret_rotated", "pak.issued", "user.swapped"])
        let swapped = try scene.db.all(
            "SELECT actor, request_id, ip, details, at FROM audit_log WHERE action = 'user.swapped'"
        ) { row in
            [
                try row.read(String.self), try row.read(String.self), try row.read(String.self),
                try row.read(String.self), try row.read(Timestamp.self).iso8601,
            ]
        }
        #expect(
            swapped == [
                [
                    "user:\(a.userID)", answer.header("X-Request-Id") ?? "", "192.0.2.7",
                    """
                    {"from_user_id":\(a.userID),"rps_transferred":0,"rps_skipped_duplicate":0,\
                    "agent_approvals_transferred":0,"agent_approvals_skipped_duplicate":0,\
                    "notifications_transferred":0,"device_uuid":null,"platform":null}
                    """,
                    app.time.now.iso8601,
                ]
            ])
    }

    private func actions(of rows: [Int]) throws -> [String] {
        try rows.map { try #require(try scene.value("SELECT action FROM audit_log WHERE id = ?", $0)) }
    }

    @Test func idsAreNeverReusedNotEvenAfterARestart() throws {
        let server = try MariaDBServer()
        let app = try TestApp(database: TestDatabase(on: server))
        let scene = try SwapScene(app)
        let b = try scene.identified()
        let a = try scene.anonymous()
        #expect(try scene.swap(a, into: b).status == 200)
        let second = try scene.anonymous()
        #expect(second.userID > a.userID)
        #expect(try scene.swap(second, into: b).status == 200)
        try server.restart()
        let third = app.client().send(
            .post, "/api/v1/devices", ["device_uuid": .string(uuid(scene.next())), "platform": "ios"])
        #expect(try #require(third["user"]?["id"]?.integer) > second.userID)
        #expect(try #require(third["device"]?["id"]?.integer) > second.deviceID)
    }
}
