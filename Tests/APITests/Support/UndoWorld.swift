import API
import Database
import HTTP
import IdentityTokens
import JSON
import MariaDB
import OpenSSL
import SignInClaims
import TestSupport
import Testing
import Text
import Time

@testable import Accounts

/// Two accounts with generated rows of every kind that a merge or a swap touches, somebody else with some, and their records in
/// two projects.
final class UndoWorld {
    /// As records name them, too.
    static let absorbed = 101
    static let survivor = 102
    /// Has a little of everything, which stays.
    static let other = 103

    enum Way: CaseIterable {
        case sessionToken, otp, browser, operatorsMerge, swap
    }

    /// What the merge or swap is.
    struct Plan {
        var way: Way
        /// The survivor's PAK, or that of the account that is swapped.
        var token = ""
        /// A swap's.
        var options: JSONValue = [:]
        /// A swap's: the device that moves.
        var device: Int?
        var byTicket = true
        /// The identity that proves it: the survivor's for a swap, the absorbed account's in a browser.
        var identity = 0
        var subject = ""
        /// Signed in as the survivor, and asked whether to merge.
        var browser: TestBrowser?
    }

    let app: TestApp
    let client: Client
    let db: Connection
    let records: RecordWorld
    /// Relying parties that stay from world to world.
    let shops: [RelyingParty]
    /// Text that is easily damaged on its way.
    private static let odd = "\u{1F}김\u{0}\"\\/\u{7F}\u{2028}\u{FEFF}e\u{301}\u{E9}🛑</script>\n "
    private(set) var plan = Plan(way: .swap)
    private(set) var hasRecords = false
    /// Values that were sealed: where they are, for what row they are sealed, and what they say.
    private(set) var sealed: [(sql: StaticString, id: Int, row: [UInt8], text: [UInt8])] = []
    private var made = 0
    /// The tables that `snapshot` reads.
    var tables: [Table]?

    init(seed: UInt64, undoWindow: Duration? = .seconds(14 * 86_400)) throws {
        app = try TestApp(settings: AccountsSettings(issuer: TestApp.issuer, undoWindow: undoWindow))
        records = try RecordWorld(app, seed: seed)
        db = records.db
        client = app.client()
        let db = db
        try db.executeScript("ALTER TABLE users AUTO_INCREMENT = 1001")
        shops = try (1...5).map { number in
            let clientID = "logi_" + padded(number, 32)
            let id = try db.execute(
                """
                INSERT INTO applications (client_id, name, client_type, status, allow_anonymous_grants,
                                          notify_anonymous_swap, webhook_url, backchannel_logout_uri, linked_sub_details)
                VALUES (?, 'Shop', 'public', 'active', TRUE, ?, ?, ?, ?)
                """, clientID, number.isMultiple(of: 2), number > 2 ? "https://shop.example/events" : nil,
                number > 3 ? "https://shop.example/logout" : nil, number == 5
            ).lastInsertID
            return RelyingParty(id: id, clientID: clientID)
        }
    }

    func next() -> Int {
        made += 1
        return made
    }

    func chance(_ percent: Int) -> Bool { records.chance(percent) }
    func number(_ range: ClosedRange<Int>) -> Int { records.number(range) }
    func any<T>(of values: [T]) -> T? { records.any(of: values) }

    /// Within two months before now.
    func past() -> Timestamp { app.time.now - .milliseconds(number(1...5_000_000_000)) }
    private func maybePast(_ percent: Int) -> Timestamp? { chance(percent) ? past() : nil }
    private func digest(_ text: String) -> [UInt8] { sha256(text.utf8) }

    func insert(_ sql: StaticString, _ arguments: any Bindable...) throws -> Int {
        try db.execute(sql, arguments: arguments).lastInsertID
    }

    private func seal(_ text: String, for row: [UInt8]) -> [UInt8] {
        app.service.accounts.serverKey.seal(Array(text.utf8), for: row)
    }

    private func keep(_ sql: StaticString, _ id: Int, for row: [UInt8], _ text: String) {
        sealed.append((sql, id, row, Array(text.utf8)))
    }

    // MARK: Rows

    /// Forgets everybody, and makes others.
    ///
    /// - Parameter hasRecords: whether the projects take part.
    func renew(_ way: Way, hasRecords: Bool = false) throws {
        if hasRecords || self.hasRecords { try records.renew() }
        self.hasRecords = hasRecords
        sealed = []
        try db.executeScript(
            """
            UPDATE projects SET accounts = \(hasRecords);
            DELETE FROM merge_journals;
            DELETE FROM push_approval_requests;
            DELETE FROM identity_links;
            DELETE FROM applications WHERE id > \(shops.last?.id ?? 0);
            DELETE FROM users;
            DELETE FROM rate_limits;
            DELETE FROM idempotency_records;
            START TRANSACTION
            """)
        plan = Plan(way: way)
        let isAnonymous = way == .swap || way == .sessionToken && chance(15)
        try person(Self.absorbed, isAnonymous: isAnonymous, size: 40)
        try person(Self.survivor, isAnonymous: false, size: 40)
        try person(Self.other, isAnonymous: false, size: 15)
        try sharedRows()
        switch way {
        case .swap: try prepareSwap()
        case .sessionToken, .otp:
            plan.token = try pak(of: Self.survivor, on: nil)
            try pushApprovalBetween()
            if way == .otp {
                try db.execute(
                    "UPDATE users SET login_email = COALESCE(login_email, 'otp@example.com') WHERE id = ?",
                    Self.absorbed)
            }
        case .browser: try pushApprovalBetween()
        case .operatorsMerge:
            try db.execute(
                "UPDATE identities SET email = 'shared@example.com', email_verified = TRUE WHERE user_id IN (?, ?)",
                Self.absorbed, Self.survivor)
            try pushApprovalBetween()
        }
        try db.executeScript("COMMIT")
        if way == .browser { try prepareBrowser() }
    }

    /// - Parameter size: the chance of each further row, in percent.
    private func person(_ id: Int, isAnonymous: Bool, size: Int) throws {
        let email = "user\(id)@example.com"
        let hasLogin = !isAnonymous && chance(60)
        try db.execute(
            """
            INSERT INTO users (id, anonymous, previously_anonymous, name, nickname, contact_email, login_email,
                               login_email_authoritative, role, custom_claims, created_at, last_active_at, phone_number,
                               address, verified_level)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, id, isAnonymous, chance(20), any(of: [nil, "", " ", "Bea \(id)", Self.odd]) ?? nil,
            chance(20) ? "nick" : nil, any(of: [nil, "", email, "me+\(id)@example.com"]) ?? nil,
            hasLogin ? email : nil, hasLogin && chance(50), "user",
            chance(30) ? #"{ "b":1.50, "a":"\#u{41}", "n":1e400, "id":12345678901234567890 , "l":"\#u{2028}🛑" }"# : nil,
            past(), past(),
            chance(10) ? "+49 30 1" : nil, chance(10) ? "Street 1" : nil, number(0...2))
        func some(_ limit: Int) -> Range<Int> { 0..<(0..<limit).filter { _ in chance(size) }.count }
        if !isAnonymous {
            try identity(of: id, .apple)
            for _ in some(3) { try identity(of: id, any(of: [.apple, .google]) ?? .apple) }
            for _ in some(2) { try earlierLink(of: id) }
            for _ in some(3) { try absorbedSub(of: id) }
            for _ in some(2) { try ownedApplication(of: id) }
        }
        for _ in some(3) { try device(of: id) }
        for _ in some(4) { try loginEvent(of: id) }
        for _ in some(5) { try grant(of: id) }
        for _ in some(2) {
            let agent = try agent(of: id)
            for _ in some(5) { try approval(of: id, by: agent) }
        }
        for _ in some(4) { try pushApproval(requested: id, approved: chance(40) ? id : nil) }
        if chance(size) { try credentials(of: id) }
    }

    @discardableResult
    func identity(of user: Int, _ provider: Provider) throws -> Int {
        let isSealed = provider == .apple && chance(50)
        let number = next()
        let handle = Array(digest("handle \(number)").prefix(16))
        let id = try insert(
            """
            INSERT INTO identities (user_id, provider, sub, email, email_verified, email_authoritative, linked_at,
                                    apple_client_id, apple_token_handle, apple_token, forwards_email, consented_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, user, provider.rawValue, "subject-\(number)", chance(60) ? "shared@example.com" : nil, true,
            chance(30),
            past(), isSealed ? "com.example" : nil, isSealed ? handle : nil,
            isSealed ? seal("apple \(number)", for: SealedAppleGrant.row(handle)) : nil, chance(20) ? true : nil,
            maybePast(50))
        if isSealed {
            keep(
                "SELECT apple_token FROM identities WHERE id = ?", id, for: SealedAppleGrant.row(handle),
                "apple \(number)")
        }
        return id
    }

    @discardableResult
    func device(of user: Int) throws -> Int {
        let number = next()
        let id = try insert(
            """
            INSERT INTO devices (user_id, device_uuid, platform, secret_digest, attestation_verified, application_id,
                                 first_seen_at, last_seen_at)
            VALUES (?, ?, 'ios', ?, ?, ?, ?, ?)
            """, user, uuid(number), chance(80) ? digest("ds_\(number)") : nil, chance(30),
            chance(20) ? any(of: shops)?.id : nil, past(), past())
        if chance(40) {
            try db.execute(
                "INSERT INTO push_tokens (device_id, token, environment, updated_at) VALUES (?, ?, 'production', ?)",
                id,
                "token-\(number)", past())
        }
        for kept in RecordWorld.kept where chance(25) {
            try db.execute("INSERT INTO device_anonymous_ids (device_id, anonymous_id) VALUES (?, ?)", id, kept)
        }
        for _ in 0..<self.number(0...2) { _ = try pak(of: user, on: id) }
        return id
    }

    func pak(of user: Int, on device: Int?) throws -> String {
        let token = "lpk_live_" + padded(next(), 43)
        try db.execute(
            """
            INSERT INTO paks (user_id, device_id, digest, scopes, created_at)
            VALUES (?, ?, ?, 'profile:read profile:write login_history:read account:delete', ?)
            """, user, device, digest(token), app.time.now)
        return token
    }

    private func earlierLink(of user: Int) throws {
        let absorbed = try insert("INSERT INTO users (name, created_at) VALUES ('Absorbed before', ?)", past())
        let link = try insert(
            """
            INSERT INTO identity_links (primary_user_id, linked_user_id, merged_via, idempotency_key, created_at)
            VALUES (?, ?, 'session_token', ?, ?)
            """, user, absorbed, "earlier:\(next())", past())
        if chance(50), let shop = any(of: shops) {
            try db.execute(
                "INSERT INTO identity_link_events (identity_link_id, application_id, event_id) VALUES (?, ?, ?)", link,
                shop.id, "evt_" + padded(next(), 26))
        }
        try grant(of: user, sub: "\(absorbed)")
    }

    private func absorbedSub(of user: Int) throws {
        let sub = "swapped-\(next())"
        guard let shop = any(of: shops) else { return }
        try db.execute(
            """
            INSERT INTO absorbed_subs (application_id, sub, canonical_user_id, via, was_anonymous, occurred_at,
                                       source_event_id)
            VALUES (?, ?, ?, 'anonymous_swap', TRUE, ?, ?)
            """, shop.id, sub, user, past(), chance(50) ? "evt_" + padded(next(), 26) : nil)
        if chance(60) { try grant(of: user, sub: sub, at: shop) }
    }

    private func ownedApplication(of user: Int) throws {
        let clientID = "logi_" + padded(1000 + next(), 32)
        try db.execute(
            """
            INSERT INTO applications (client_id, name, client_type, status, owner_user_id, created_at)
            VALUES (?, 'Own', 'confidential', 'active', ?, ?)
            """, clientID, user, past())
        try db.execute("UPDATE users SET role = 'developer' WHERE id = ?", user)
    }

    func loginEvent(of user: Int) throws {
        try db.execute(
            """
            INSERT INTO login_events (user_id, event, provider, ip, user_agent, platform, created_at)
            VALUES (?, 'session', ?, '192.0.2.1', ?, 'ios', ?)
            """, user, chance(50) ? "apple" : nil, chance(50) ? Self.odd : nil, past())
    }

    @discardableResult
    func grant(of user: Int, sub: String? = nil, at shop: RelyingParty? = nil) throws -> Int {
        let isRevoked = chance(25)
        let id = try insert(
            """
            INSERT INTO grants (user_id, application_id, sub, scopes, created_at, last_used_at, revoked_at)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """, user, (shop ?? any(of: shops))?.id, sub ?? "\(user)-\(next())", "openid profile:basic", past(),
            maybePast(50), isRevoked ? past() : nil)
        for _ in 0..<number(0...2) { try family(of: id, isRevoked: isRevoked || chance(20)) }
        if chance(30) {
            try db.execute(
                """
                INSERT INTO authorization_codes (grant_id, digest, created_at, expires_at, used_at) VALUES (?, ?, ?, ?, ?)
                """, id, digest("code \(next())"), app.time.now, app.time.now + .seconds(300), maybePast(50))
        }
        return id
    }

    private func family(of grant: Int, isRevoked: Bool) throws {
        let number = next()
        let id = try insert(
            """
            INSERT INTO refresh_families (grant_id, created_at, revoked_at, handle, scopes, authenticated_at, sid,
                                          current_digest, current_expires_at, predecessor_digest, answered_scope)
            VALUES (?, ?, ?, ?, 'openid', ?, ?, ?, ?, ?, ?)
            """, grant, past(), isRevoked ? past() : nil, Array(digest("family \(number)").prefix(16)), past(),
            chance(50) ? Array(digest("sid \(number)").prefix(16)) : nil, digest("current \(number)"),
            app.time.now + .seconds(isRevoked ? -1000 : 86_400), chance(50) ? digest("predecessor \(number)") : nil,
            chance(20) ? "openid" : nil)
        if !isRevoked, chance(40) {
            let row = Array("refresh_family:\(id)".utf8)
            try db.execute(
                "UPDATE refresh_families SET sealed_answer = ?, answer_expires_at = ? WHERE id = ?",
                seal("answer \(number)", for: row), app.time.now + .seconds(30), id)
            if plan.way != .swap {
                keep("SELECT sealed_answer FROM refresh_families WHERE id = ?", id, for: row, "answer \(number)")
            }
        }
        for index in 0..<self.number(0...3) {
            try db.execute(
                "INSERT INTO refresh_tokens (digest, refresh_family_id, expires_at) VALUES (?, ?, ?)",
                digest("token \(number) \(index)"), id, app.time.now + .seconds(86_400))
        }
    }

    func agent(of user: Int) throws -> Int {
        let number = next()
        return try insert(
            """
            INSERT INTO agents (user_id, public_id, name, created_at, revoked_at, agent_type, auth_mode, public_key,
                                token_digest, allowed_action_types, allowed_ips)
            VALUES (?, ?, ?, ?, ?, 'custom', 'bearer_only', ?, ?, ?, ?)
            """, user, "agt_" + padded(number, 16), "Agent \(number)", past(), maybePast(20),
            chance(30) ? digest("key \(number)") : nil, chance(80) ? digest("agent \(number)") : nil,
            chance(40) ? #"[ "pay" , "send"]"# : nil, chance(20) ? #"["192.0.2.0/24"]"# : nil)
    }

    @discardableResult
    func approval(of user: Int, by agent: Int, payload: Int? = nil, status: String? = nil) throws -> Int {
        let publicID = "aar_" + padded(next(), 16)
        let status =
            status ?? any(of: ["pending", "pending", "approved", "rejected", "expired", "cancelled"]) ?? "pending"
        let hash = digest("payload \(payload ?? number(0...4))").hexadecimal
        let length = number(0...2)
        var previous = [UInt8](repeating: 0, count: 32)
        for sequence in 1..<(length + 1) {
            let this = digest("\(publicID) \(sequence)")
            try db.execute(
                """
                INSERT INTO agent_approval_history (approval, sequence, user_id, event, at, display_payload_hash,
                                                    previous_digest, digest)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """, publicID, sequence, user, sequence == 1 ? "requested" : "number_mismatch", past(), hash, previous,
                this)
            previous = this
        }
        let isSealed = chance(60)
        let row = AgentApproval.row(publicID)
        let id = try insert(
            """
            INSERT INTO agent_approvals (user_id, agent_id, public_id, status, display_payload_hash, created_at, action_type,
                                         title, body, sealed_request, expires_at, decided_at, tries, history_length,
                                         history_digest)
            VALUES (?, ?, ?, ?, ?, ?, 'pay', 'Title', ?, ?, ?, ?, ?, ?, ?)
            """, user, agent, publicID, status, hash, past(), Self.odd,
            isSealed ? seal("request \(publicID)", for: row) : nil,
            chance(80) ? app.time.now + .seconds(number(-100...900)) : nil,
            ["approved", "rejected"].contains(status) ? past() : nil,
            number(0...2), length, length > 0 ? previous : nil)
        if isSealed {
            keep("SELECT sealed_request FROM agent_approvals WHERE id = ?", id, for: row, "request \(publicID)")
        }
        for key in 0..<number(0...2) {
            try db.execute(
                "INSERT INTO agent_approval_keys (agent_id, key_digest, body_digest, approval_id) VALUES (?, ?, ?, ?)",
                agent, digest("\(publicID) key \(key)"), digest(publicID), id)
        }
        return id
    }

    @discardableResult
    func pushApproval(requested: Int?, approved: Int?, status: String? = nil) throws -> Int {
        let publicID = padded(next(), 22)
        let status = status ?? any(of: ["pending", "approved", "denied", "expired"]) ?? "pending"
        let isSealed = chance(60)
        let row = PushApproval.row(publicID)
        let id = try insert(
            """
            INSERT INTO push_approval_requests (requested_user_id, approved_user_id, status, created_at, expires_at, public_id,
                                                browser_digest, sealed_number, ip, user_agent, application_id, by_code,
                                                decided_at, completed_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, '192.0.2.2', ?, ?, ?, ?, ?)
            """, requested, approved, status, past(), app.time.now + .seconds(number(-100...300)), publicID,
            digest("browser \(publicID)"), isSealed ? seal("37", for: row) : nil, chance(50) ? "Browser 김" : nil,
            chance(30) ? any(of: shops)?.id : nil, chance(20), status == "pending" ? nil : app.time.now - .seconds(5),
            status == "approved" ? maybePast(50) : nil)
        if isSealed { keep("SELECT sealed_number FROM push_approval_requests WHERE id = ?", id, for: row, "37") }
        return id
    }

    /// Which do not return.
    private func credentials(of user: Int) throws {
        try db.execute(
            "INSERT INTO web_sessions (digest, user_id, expires_at) VALUES (?, ?, ?)", digest("session \(next())"),
            user,
            app.time.now + .seconds(3600))
        _ = try ticket(for: user, subject: "whoever")
        _ = try mergeToken(of: user)
        _ = try pak(of: user, on: nil)
    }

    private func ticket(for user: Int, subject: String) throws -> String {
        let ticket = "swt_" + padded(next(), 43)
        try db.execute(
            """
            INSERT INTO swap_tickets (digest, user_id, provider, sub, created_at, expires_at) VALUES (?, ?, 'apple', ?, ?, ?)
            """, digest(ticket), user, subject, app.time.now, app.time.now + .seconds(600))
        return ticket
    }

    private func mergeToken(of user: Int) throws -> String {
        let token = "ltgt_" + padded(next(), 43)
        try db.execute(
            "INSERT INTO merge_tokens (digest, user_id, created_at, expires_at) VALUES (?, ?, ?, ?)", digest(token),
            user,
            app.time.now, app.time.now + .seconds(300))
        return token
    }

    // MARK: Rows of both

    /// What both have at one relying party, and requests that show the same to both.
    private func sharedRows() throws {
        let users = [Self.absorbed, Self.survivor]
        for shop in shops where chance(30) { for user in users { try grant(of: user, at: shop) } }
        if chance(30) {
            for user in users {
                let agent = try agent(of: user)
                for _ in 0..<number(1...2) { try approval(of: user, by: agent, payload: 99, status: "pending") }
            }
        }
    }

    private func pushApprovalBetween() throws {
        for _ in 0..<number(0...2) {
            let people = [nil, Self.absorbed, Self.survivor, Self.other]
            try pushApproval(requested: any(of: people) ?? nil, approved: any(of: people) ?? nil)
        }
    }

    // MARK: Merging

    private func prepareSwap() throws {
        let device = try device(of: Self.absorbed)
        try db.execute("UPDATE devices SET application_id = NULL WHERE id = ?", device)
        plan.device = device
        plan.token = try pak(of: Self.absorbed, on: device)
        plan.byTicket = chance(80)
        (plan.identity, plan.subject) = try appleIdentity(of: Self.survivor)
        var members: [(String, JSONValue)] = []
        if chance(50) { members.append(("rps", .array(shops.filter { _ in chance(60) }.map { .string($0.clientID) }))) }
        if chance(40) { members.append(("agent_approvals", .bool(chance(50)))) }
        if chance(40) { members.append(("notifications", .bool(chance(50)))) }
        plan.options = .object(JSONObject(members))
        try pushApprovalBetween()
    }

    private func appleIdentity(of user: Int) throws -> (id: Int, subject: String) {
        try db.first(
            "SELECT id, sub FROM identities WHERE user_id = ? AND provider = 'apple' ORDER BY id LIMIT 1", user
        ) { row in (try row.read(), try row.read()) } ?? (0, "")
    }

    /// Goes as far as the page that asks.
    private func prepareBrowser() throws {
        let browser = TestBrowser(app)
        browser.open("/account")
        try browser.signIn(as: appleIdentity(of: Self.survivor).subject, email: nil)
        (plan.identity, plan.subject) = try appleIdentity(of: Self.absorbed)
        browser.open("/account/merge")
        try browser.signIn(as: plan.subject, email: nil)
        plan.browser = browser
    }

    /// Whether the swap moves agents and their requests, and nothing else is chosen.
    func select(agents: Bool) { plan.options = ["agent_approvals": .bool(agents)] }

    /// Merges or swaps.
    ///
    /// - Returns: how an operator names that.
    @discardableResult
    func merge(sourceLocation: SourceLocation = #_sourceLocation) throws -> MergeID {
        switch plan.way {
        case .operatorsMerge: return try mergeAsOperator(Self.absorbed, into: Self.survivor)
        case .browser:
            let browser = try #require(plan.browser)
            // What is furnished since is shown, too.
            browser.open(browser.path)
            try browser.submit(browser.path)
            try #require(browser.path == "/account?notice=merged", "\(browser.path)", sourceLocation: sourceLocation)
            return .merge(IdentityLink.ID(rawValue: Int64(try app.count("SELECT MAX(id) FROM identity_links"))))
        case .sessionToken, .otp, .swap:
            let answer = client.send(try request())
            try #require(answer.status == 200, "\(answer)", sourceLocation: sourceLocation)
            return try plan.way == .swap ? app.newestSwap() : answer.merge()
        }
    }

    func request(_ absorbed: Int = UndoWorld.absorbed, key: String? = nil) throws -> RepeatableRequest {
        let headers = key.map { [(name: "idempotency-key", value: $0)] } ?? []
        guard plan.way == .swap else {
            return RepeatableRequest(
                method: .post, path: "/api/v1/me/merge",
                body: plan.way == .otp
                    ? try otp(of: absorbed) : ["target_session_token": .string(try mergeToken(of: absorbed))],
                token: plan.token, headers: headers)
        }
        let proof: JSONValue =
            plan.byTicket
            ? ["swap_ticket": .string(try ticket(for: Self.absorbed, subject: plan.subject))]
            : app.proof(plan.subject).adding(["provider": "apple"])
        return RepeatableRequest(
            method: .post, path: "/api/v1/me/anonymous_swap",
            body: proof.adding(["merge_options": plan.options, "full_name": ["given_name": "Given"]]),
            token: plan.token,
            headers: headers)
    }

    /// With the code of the mail.
    private func otp(of user: Int) throws -> JSONValue {
        let target: JSONValue = ["target_user_id": .integer(Int64(user))]
        let answer = client.send(.post, "/api/v1/me/merge/otp", target, token: plan.token)
        try #require(answer.status == 202, "\(answer)")
        return target.adding(["otp_code": .string(try #require(try app.mails().last?.code))])
    }

    /// As `merganserctl user merge` does it.
    func mergeAsOperator(_ absorbed: Int, into survivor: Int) throws -> MergeID {
        let link = try app.operate { transaction in
            let merge = try app.service.accounts.mergeUsers(
                User.ID(rawValue: Int64(absorbed)), into: User.ID(rawValue: Int64(survivor)),
                for: .email("shared@example.com"), .none, in: transaction)
            try transaction.uniteRecords(by: merge.link)
            return merge.link
        }
        return .merge(link.id)
    }
}
