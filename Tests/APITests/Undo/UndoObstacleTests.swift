import API
import HTTP
import IdentityTokens
import JSON
import TestSupport
import Testing
import Time

@testable import Accounts

/// When a merge or swap cannot be taken back (accounts Stage 6). Then nothing changes.
@Suite struct UndoObstacleTests {
    private static let window = Duration.seconds(14 * 86_400)

    let scene: OAuthScene
    let app: TestApp
    let ada: Phone
    let bea: Phone

    init() throws {
        scene = try OAuthScene()
        app = scene.app
        ada = try scene.person("ada", email: "ada@example.com")
        bea = try scene.person("bea", email: "bea@example.com")
    }

    private func merge(_ absorbed: Phone, into survivor: Phone, by client: Client? = nil) throws -> MergeID {
        let client = client ?? scene.client
        let token = client.send(.post, "/api/v1/me/merge/session-token", token: absorbed.token)["session_token"]
        app.time.advance(by: .seconds(1))
        return try client.send(
            .post, "/api/v1/me/merge", ["target_session_token": token ?? .null], token: survivor.token
        ).merge()
    }

    private func swap(_ phone: Phone, into subject: String) throws -> MergeID {
        app.time.advance(by: .seconds(1))
        try scene.swap(phone, into: subject)
        return try app.newestSwap()
    }

    private func expectImpossible(
        _ merge: MergeID, _ obstacle: UndoObstacle, keepingChanged: Bool = false, in app: TestApp? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try self.app.expectUnchanged(sourceLocation: sourceLocation) {
            #expect(throws: Failure.undoNotPossible(obstacle), sourceLocation: sourceLocation) {
                try (app ?? self.app).undo(merge, keepingChanged: keepingChanged)
            }
        }
    }

    private func owner(ofDevice phone: Phone) throws -> [String] {
        try app.column("SELECT CONCAT(user_id) FROM devices WHERE id = ?", phone.deviceID)
    }

    // MARK: Its journal

    @Test func whatIsNotThere() throws {
        _ = try merge(ada, into: bea)
        for unknown in ["7", "s1", "s7"] {
            let merge = try #require(MergeID(text: unknown))
            #expect(throws: Failure.notFound, "\(unknown)") { try app.undo(merge) }
        }
        // Each kind has its own numbers.
        let swap = try swap(scene.anonymous(), into: "bea")
        #expect(swap == MergeID(text: "s2"))
        #expect(throws: Failure.notFound) { try app.undo(try #require(MergeID(text: "2"))) }
    }

    @Test func twice() throws {
        let merged = try merge(ada, into: bea)
        try app.undo(merged)
        try expectImpossible(merged, .alreadyUndone)
        let swapped = try swap(scene.anonymous(), into: "bea")
        try app.undo(swapped)
        try expectImpossible(swapped, .alreadyUndone)
        // What was undone can be done again.
        let again = try merge(try Phone(session(as: "ada")), into: bea)
        #expect(again != merged)
        try expectImpossible(merged, .alreadyUndone)
        try app.undo(again)
        try expectImpossible(again, .alreadyUndone)
    }

    private func session(as subject: String) -> Answer {
        scene.client.send(
            .post, "/api/v1/auth/apple/session",
            app.proof(subject).adding(["device_uuid": .string(uuid(3_000_000 + scene.next())), "platform": "ios"]))
    }

    @Test(arguments: [false, true]) func afterTheWindow(isSwap: Bool) throws {
        let merge = isSwap ? try swap(scene.anonymous(), into: "bea") : try merge(ada, into: bea)
        app.time.advance(by: Self.window)
        try expectImpossible(merge, .windowOver)
        try expectImpossible(merge, .windowOver, keepingChanged: true)
    }

    @Test func inTheLastMomentOfTheWindow() throws {
        let merge = try merge(ada, into: bea)
        app.time.advance(by: Self.window - .milliseconds(1))
        try app.undo(merge)
        #expect(try owner(ofDevice: ada) == ["\(ada.userID)"])
    }

    @Test func withoutAJournal() throws {
        let other = try TestApp(
            settings: AccountsSettings(issuer: TestApp.issuer, undoWindow: nil), database: app.database, time: app.time)
        let merge = try merge(ada, into: bea, by: other.client())
        #expect(try app.count("SELECT COUNT(*) FROM merge_journals") == 0)
        try expectImpossible(merge, .noJournal)
        let anonymous = try scene.anonymous()
        let swap = other.client().send(scene.swapRequest(anonymous, into: "bea"))
        #expect(swap.status == 200)
        #expect(try app.count("SELECT COUNT(*) FROM merge_journals") == 0)
    }

    /// Whoever sets the window to nothing means what was merged before, too.
    @Test func afterUndoWasSwitchedOff() throws {
        let merge = try merge(ada, into: bea)
        let other = try TestApp(
            settings: AccountsSettings(issuer: TestApp.issuer, undoWindow: nil), database: app.database, time: app.time)
        try expectImpossible(merge, .windowOver, in: other)
    }

    // MARK: Later merges

    @Test func inAChain() throws {
        let cleo = try scene.person("cleo", email: "cleo@example.com")
        let first = try merge(ada, into: bea)
        let second = try merge(bea, into: cleo)
        try expectImpossible(first, .laterMerge)
        try app.undo(second)
        for phone in [ada, bea] { #expect(try owner(ofDevice: phone) == ["\(bea.userID)"]) }
        #expect(try app.column("SELECT CONCAT(primary_user_id) FROM identity_links") == ["\(bea.userID)"])
        try app.undo(first)
        for phone in [ada, bea, cleo] { #expect(try owner(ofDevice: phone) == ["\(phone.userID)"]) }
        #expect(try app.count("SELECT COUNT(*) FROM identity_links") == 0)
    }

    @Test func ofTheSurvivor() throws {
        let first = try merge(ada, into: bea)
        let second = try merge(try scene.person("cleo", email: "cleo@example.com"), into: bea)
        try expectImpossible(first, .laterMerge)
        try app.undo(second)
        try app.undo(first)
    }

    @Test func aSwapSince() throws {
        let first = try merge(ada, into: bea)
        let swap = try swap(scene.anonymous(), into: "bea")
        try expectImpossible(first, .laterMerge)
        try app.undo(swap)
        try app.undo(first)
    }

    @Test func aMergeSinceASwap() throws {
        let swap = try swap(scene.anonymous(), into: "ada")
        let merge = try merge(ada, into: bea)
        try expectImpossible(swap, .laterMerge)
        try app.undo(merge)
        try app.undo(swap)
    }

    /// In the same millisecond the journals' numbers say which was first.
    @Test func atTheSameTime() throws {
        let anonymous = try (0..<2).map { _ in try scene.anonymous() }
        var swaps: [MergeID] = []
        for phone in anonymous {
            try scene.swap(phone, into: "bea")
            swaps.append(try app.newestSwap())
        }
        try expectImpossible(swaps[0], .laterMerge)
        for swap in swaps.reversed() { try app.undo(swap) }
        for phone in anonymous { #expect(try owner(ofDevice: phone) == ["\(phone.userID)"]) }
    }

    /// On a machine whose clock is behind a later merge has an earlier time.
    @Test(arguments: [false, true]) func byAClockThatIsBehind(isSwap: Bool) throws {
        let first = isSwap ? try swap(scene.anonymous(), into: "bea") : try merge(ada, into: bea)
        app.time.advance(by: .seconds(-40))
        let second = try merge(scene.person("cleo", email: "cleo@example.com"), into: bea)
        try expectImpossible(first, .laterMerge)
        app.time.advance(by: .seconds(-40))
        let third = try swap(scene.anonymous(), into: "bea")
        try expectImpossible(second, .laterMerge)
        for merge in [third, second, first] { try app.undo(merge) }
    }

    @Test(arguments: [false, true]) func withoutAJournalByAClockThatIsBehind(isSwap: Bool) throws {
        let other = try TestApp(
            settings: AccountsSettings(issuer: TestApp.issuer, undoWindow: nil), database: app.database, time: app.time)
        let first = isSwap ? try swap(scene.anonymous(), into: "bea") : try merge(ada, into: bea)
        app.time.advance(by: .seconds(-40))
        _ = try merge(scene.person("cleo", email: "cleo@example.com"), into: bea, by: other.client())
        try expectImpossible(first, .laterMerge)
    }

    /// An earlier one does not stand in the way.
    @Test(arguments: [false, true]) func afterAMergeThatKeptNoJournal(isSwap: Bool) throws {
        let other = try TestApp(
            settings: AccountsSettings(issuer: TestApp.issuer, undoWindow: nil), database: app.database, time: app.time)
        _ = try merge(scene.person("cleo", email: "cleo@example.com"), into: bea, by: other.client())
        app.time.advance(by: .seconds(61))
        try app.undo(isSwap ? try swap(scene.anonymous(), into: "bea") : try merge(ada, into: bea))
    }

    /// A later one without a journal cannot be undone, and so neither can this.
    @Test func aLaterMergeThatKeptNoJournal() throws {
        let other = try TestApp(
            settings: AccountsSettings(issuer: TestApp.issuer, undoWindow: nil), database: app.database, time: app.time)
        let first = try merge(ada, into: bea)
        let second = try merge(bea, into: scene.person("cleo", email: "cleo@example.com"), by: other.client())
        try expectImpossible(first, .laterMerge)
        try expectImpossible(second, .noJournal)
    }

    // MARK: The accounts

    @Test(arguments: [false, true]) func ofADeletedAccount(isSwap: Bool) throws {
        let merge = isSwap ? try swap(scene.anonymous(), into: "bea") : try merge(ada, into: bea)
        #expect(scene.client.send(.deletion(by: bea.token)).status == 202)
        try expectImpossible(merge, .accountDeleted)
        try app.restore(bea.userID)
        // Its sessions and consents ended, but nothing moved.
        try app.undo(merge, keepingChanged: true)
        if !isSwap { #expect(try owner(ofDevice: ada) == []) }
    }

    @Test func ofAPurgedAccount() throws {
        let merge = try merge(ada, into: bea)
        #expect(scene.client.send(.deletion(by: bea.token)).status == 202)
        app.time.advance(by: .seconds(60 * 86_400))
        try app.purge()
        #expect(throws: Failure.notFound) { try app.undo(merge) }
    }

    private func unlink(_ provider: String, by phone: Phone) throws {
        let answer = scene.client.send(.delete, "/api/v1/me/connected_identities/\(provider)", token: phone.token)
        try #require(answer.status < 300, "\(answer)")
    }

    private func link(_ subject: String, of provider: Provider, to phone: Phone) throws {
        let answer = scene.client.send(
            .post, "/api/v1/me/connected_identities",
            app.proof(subject, of: provider).adding(["provider": .string(provider.rawValue)]), token: phone.token)
        try #require(answer.status == 200, "\(answer)")
    }

    /// The survivor has given up its own, and would have none.
    @Test func withoutTheSurvivorsIdentity() throws {
        let merge = try merge(ada, into: bea)
        try app.change("DELETE FROM identities WHERE user_id = ? AND sub = ?", bea.userID, app.own("bea"))
        try expectImpossible(merge, .lastIdentity)
        try expectImpossible(merge, .lastIdentity, keepingChanged: true)
        try link("bea-again", of: .google, to: bea)
        try app.undo(merge)
    }

    /// The one that was the absorbed account's is gone.
    @Test func withoutTheAbsorbedOnesIdentity() throws {
        try link("bea-at-google", of: .google, to: bea)
        let merge = try merge(ada, into: bea)
        try unlink("apple", by: bea)
        let failure = #expect(throws: Failure.self) { try app.undo(merge) }
        guard case .undoConflict(let conflicts) = failure else {
            Issue.record("\(failure.map { "\($0)" } ?? "undone")")
            return
        }
        #expect(conflicts.map(\.table) == ["identities"])
        #expect(conflicts.map(\.reason) == [.missing])
        try expectImpossible(merge, .lastIdentity, keepingChanged: true)
    }
}
