import HTTP
import JSON
import TestSupport
import Testing

/// What a device keeps of its live PAKs, so that a launch need not read them (`devices.live_paks`).
@Suite struct LivePAKsTests {
    let app: TestApp
    let client: Client

    init() throws {
        app = try TestApp()
        client = app.client()
    }

    private func kept() throws -> [String] { try app.column("SELECT live_paks FROM devices ORDER BY id") }

    private func live() throws -> [String] {
        try app.column(
            """
            SELECT GROUP_CONCAT(p.id ORDER BY p.id) FROM devices d
            LEFT JOIN paks p ON p.device_id = d.id AND p.revoked_at IS NULL GROUP BY d.id ORDER BY d.id
            """)
    }

    private func isLive(_ token: String) -> Bool { client.send(.get, "/api/v1/me", token: token).status == 200 }

    /// Launches a phone again, seven times, and looks at its PAKs each time.
    ///
    /// - Parameter before: live PAKs of the phone, oldest first.
    private func expectFive(
        _ phone: Phone, after before: [String], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        var tokens = before
        for _ in 0..<7 {
            app.time.advance(by: .seconds(1))
            tokens.append(try client.reopen(phone))
            #expect(tokens.map(isLive) == tokens.indices.map { $0 >= tokens.count - 5 }, sourceLocation: sourceLocation)
            #expect(try kept() == live(), sourceLocation: sourceLocation)
        }
    }

    @Test func eachLaunchKeepsThem() throws {
        let phone = try client.bootstrap()
        #expect(try kept() == ["NULL"])
        try expectFive(phone, after: [phone.token])
    }

    @Test func aLaunchThatKnowsThemReadsNone() throws {
        let phone = try client.bootstrap()
        for _ in 0..<5 { _ = try client.reopen(phone) }
        let before = try live()[0].split(separator: ",").map(String.init)
        try app.change("UPDATE devices SET live_paks = ?", before[1...2].joined(separator: ","))
        _ = try client.reopen(phone)
        let after = try live()[0].split(separator: ",").map(String.init)
        #expect(before.count == 5 && after.count == 6 && after.starts(with: before))
        #expect(try kept() == ["\(before[1]),\(before[2]),\(after[5])"])
    }

    @Test func aTextThatCannotBeReadIsReplaced() throws {
        let phone = try client.bootstrap()
        let token = try client.reopen(phone)
        try app.change("UPDATE devices SET live_paks = CONCAT(live_paks, ',1')")
        try expectFive(phone, after: [phone.token, token])
    }

    @Test func whoeverSignsOutIsNoLongerCounted() throws {
        let phone = try client.bootstrap()
        let tokens = try [phone.token] + (0..<4).map { _ in try client.reopen(phone) }
        #expect(client.send(.delete, "/api/v1/auth/session", token: tokens[2]).status == 204)
        #expect(try kept() == ["NULL"])
        try expectFive(phone, after: [tokens[0], tokens[1], tokens[3], tokens[4]])
    }

    @Test func aSignInCountsToo() throws {
        let phone = try client.signIn(app.proof("ada"), on: 1)
        let tokens = try (0..<3).map { _ in try client.reopen(phone) }
        let again = try client.signIn(app.proof("ada"), on: 1)
        #expect(try kept() == ["NULL"])
        try expectFive(again, after: [phone.token] + tokens + [again.token])
    }

    @Test func aDeviceThatAnotherTakesHasOnlyTheirs() throws {
        let phone = try client.bootstrap()
        let tokens = try (0..<4).map { _ in try client.reopen(phone) }
        let answer = client.send(
            .post, "/auth/apple/session",
            app.proof("ada").adding([
                "device_uuid": .string(phone.uuid), "platform": "ios", "device_secret": .string(phone.secret),
            ]))
        let taken = try Phone(answer)
        #expect(taken.userID != phone.userID && taken.deviceID == phone.deviceID)
        #expect(try kept() == ["NULL"])
        try expectFive(taken, after: [taken.token])
        // They open the anonymous account, so that it can still be linked.
        #expect(([phone.token] + tokens).allSatisfy(isLive))
    }

    @Test func aPromotionEndsAllButOne() throws {
        let phone = try client.bootstrap()
        let tokens = try (0..<3).map { _ in try client.reopen(phone) }
        let answer = client.send(
            .post, "/api/v1/me/connected_identities", app.proof("ada").adding(["provider": "apple"]), token: tokens[1])
        #expect(answer.status == 200, "\(answer)")
        #expect(tokens.map(isLive) == [false, true, false])
        #expect(try app.database.connect().livePAKProblems() == [])
    }

    /// The release before issues PAKs beside this one, and does not write what the device keeps.
    @Test func whatTheReleaseBeforeIssuesCounts() throws {
        let phone = try client.bootstrap()
        for _ in 0..<4 { _ = try client.reopen(phone) }
        let before = try live()[0].split(separator: ",").map(String.init)
        #expect(try before.count == 5 && kept() == live())
        try app.change(
            "INSERT INTO paks (user_id, device_id, digest, scopes) VALUES (?, ?, UNHEX(SHA2('x', 256)), 'profile:read')",
            phone.userID, phone.deviceID)
        let issued = try #require(try live()[0].split(separator: ",").last)
        try app.change("UPDATE paks SET revoked_at = NOW(3) WHERE id = ?", before[0])
        try app.change("UPDATE devices SET last_seen_at = last_seen_at + INTERVAL 1 SECOND")
        app.time.advance(by: .seconds(2))
        _ = try client.reopen(phone)
        let after = try live()[0].split(separator: ",").map(String.init)
        #expect(after.count == 5 && after.dropLast().elementsEqual(before[2...] + [String(issued)]))
        #expect(try kept() == live())
    }
}
