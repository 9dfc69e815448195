import API
import HTTP
import IdentityTokens
import JOSE
import JSON
import MariaDB
import TestSupport
import Testing
import Threads
import Time

@testable import Accounts

/// Apple's tokens end with the identity that they belong to (accounts §4.5).
@Suite struct AppleRevocationTests {
    @Test func byADeletion() throws {
        let scene = try AppleScene()
        let phone = try scene.phone("ada")
        #expect(scene.client.send(.deletion(by: phone.token)).status == 202)
        #expect(try scene.kept() == [])
        #expect(try scene.dispatch() == 1)
        let form = try #require(scene.forms(at: "/revoke").first)
        #expect(form["token"] == "refresh-ada" && form["token_type_hint"] == "refresh_token")
        #expect(form["client_id"] == "com.example.app")
        #expect(try JWT(try #require(form["client_secret"])).claims.issuer == "TEAM")
        #expect(try scene.queue() == 0)
        #expect(scene.statistics.snapshot.appleRevocations.attempts[.delivered] == 1)
        // Once.
        try scene.app.change("UPDATE users SET purge_at = ?", scene.app.time.now)
        try scene.app.purge()
        #expect(try scene.dispatch() == 0)
    }

    @Test func byUnlinking() throws {
        let scene = try AppleScene()
        let phone = try scene.phone("ada")
        let path = "/api/v1/me/connected_identities"
        let google = scene.app.proof("g", of: .google).adding(["provider": "google"])
        #expect(scene.client.send(.post, path, google, token: phone.token).status == 200)
        #expect(scene.client.send(.delete, path + "/google", token: phone.token).status == 200)
        #expect(try scene.queue() == 0)
        #expect(scene.client.send(.post, path, google, token: phone.token).status == 200)
        #expect(scene.client.send(.delete, path + "/apple", token: phone.token).status == 200)
        #expect(try scene.dispatch() == 1)
        #expect(scene.forms(at: "/revoke").map { $0["token"] } == ["refresh-ada"])
    }

    /// What was not ended before: of an account that was imported as deleted, and of one that it absorbed.
    @Test func byAPurge() throws {
        let scene = try AppleScene()
        let (ada, eve) = (try scene.phone("ada"), try scene.phone("evelyn"))
        try scene.app.absorb(eve.userID, into: ada.userID)
        try scene.app.change(
            "UPDATE users SET deleted_at = ?, purge_at = ? WHERE id = ?", scene.app.time.now, scene.app.time.now,
            ada.userID)
        #expect(try scene.app.purge().count == 2)
        #expect(try scene.dispatch() == 2)
        #expect(Set(scene.forms(at: "/revoke").compactMap { $0["token"] }) == ["refresh-ada", "refresh-evelyn"])
    }

    @Test func aFailureIsRepeated() throws {
        let scene = try AppleScene { request in
            request.path == "/token" ? AppleScene.usual(request) : .response(status: 500)
        }
        let phone = try scene.phone("ada")
        #expect(scene.client.send(.deletion(by: phone.token)).status == 202)
        // The waits of events: 30 s and more, a fifth longer at most.
        for attempt in 1...13 {
            #expect(try scene.dispatch() == 1, "attempt \(attempt)")
            #expect(try scene.dispatch() == 0)
            #expect(try scene.app.column("SELECT CAST(attempts AS CHAR) FROM apple_revocations") == ["\(attempt)"])
            scene.app.time.advance(by: .seconds(29 * 3600))
        }
        #expect(try scene.dispatch() == 1)
        #expect(try scene.queue() == 0)
        #expect(scene.statistics.snapshot.appleRevocations.dead == 1)
    }

    /// Without a key nothing is sent, and nothing is lost.
    @Test func withoutAKeyItWaits() throws {
        let scene = try AppleScene()
        let phone = try scene.phone("ada")
        #expect(scene.client.send(.deletion(by: phone.token)).status == 202)
        let other = try TestApp(database: scene.app.database, time: scene.app.time)
        #expect(try scene.dispatch(with: other.service) == 0)
        #expect(try scene.app.column("SELECT CAST(attempts AS CHAR) FROM apple_revocations") == ["0"])
        #expect(try scene.dispatch() == 1)
    }

    /// It does not depend on the account.
    @Test func alsoAfterThePurge() throws {
        let scene = try AppleScene()
        let phone = try scene.phone("ada")
        #expect(scene.client.send(.deletion(by: phone.token)).status == 202)
        try scene.app.change("UPDATE users SET purge_at = ?", scene.app.time.now)
        #expect(try scene.app.purge().count == 1)
        #expect(try scene.app.count("SELECT COUNT(*) FROM apple_revocations WHERE sub_digest IS NULL") == 1)
        #expect(try scene.dispatch() == 1)
        #expect(scene.forms(at: "/revoke").map { $0["token"] } == ["refresh-ada"])
    }

    // MARK: The identity comes back

    /// Apple would end the new consent with the old token.
    @Test(arguments: [false, true]) func anIdentityThatIsLinkedAgainHasItsTokenBack(withCode: Bool) throws {
        let scene = try AppleScene()
        let phone = try scene.phone("ada")
        let path = "/api/v1/me/connected_identities"
        let google = scene.app.proof("g", of: .google).adding(["provider": "google"])
        #expect(scene.client.send(.post, path, google, token: phone.token).status == 200)
        #expect(scene.client.send(.delete, path + "/apple", token: phone.token).status == 200)
        #expect(try scene.queue() == 1)
        let again = scene.proof("ada", code: withCode ? nil : "")
        #expect(scene.client.send(.post, path, again, token: phone.token).status == 200)
        #expect(try scene.kept() == ["ada"])
        #expect(try scene.dispatch() == 0)
        #expect(scene.client.send(.deletion(by: phone.token)).status == 202)
        #expect(try scene.dispatch() == 1)
        #expect(scene.forms(at: "/revoke").map { $0["token"] } == ["refresh-ada"])
    }

    @Test func aNewAccountOfTheSamePersonToo() throws {
        let scene = try AppleScene()
        let phone = try scene.phone("ada")
        let path = "/api/v1/me/connected_identities"
        let google = scene.app.proof("g", of: .google).adding(["provider": "google"])
        #expect(scene.client.send(.post, path, google, token: phone.token).status == 200)
        #expect(scene.client.send(.delete, path + "/apple", token: phone.token).status == 200)
        #expect(scene.session("ada", code: "").status == 200)
        #expect(try scene.kept() == ["ada"])
        #expect(try scene.dispatch() == 0)
    }

    @Test func aRestoredAccountToo() throws {
        let scene = try AppleScene()
        let phone = try scene.phone("ada")
        #expect(scene.client.send(.deletion(by: phone.token)).status == 202)
        try scene.app.operate { try $0.restoreUser(User.ID(rawValue: Int64(phone.userID)), by: .tool) }
        #expect(try scene.kept() == ["ada"])
        #expect(try scene.dispatch() == 0)
        // Nothing to take back: Apple has it.
        let again = try scene.phone("ada", code: "")
        #expect(scene.client.send(.deletion(by: again.token)).status == 202)
        #expect(try scene.dispatch() == 1)
        try scene.app.operate { try $0.restoreUser(User.ID(rawValue: Int64(phone.userID)), by: .tool) }
        #expect(try scene.kept() == [])
    }

    // MARK: Faults

    @Test(arguments: [.response(status: 400), .response(status: 503), .reset, .silence] as [LocalHTTPServer.Reply])
    func whatAppleDoesNotTakeIsSentAgain(reply: LocalHTTPServer.Reply) throws {
        let isWell = Monitor(false)
        let scene = try AppleScene { request in
            request.path == "/token" || isWell.withLock { $0 } ? AppleScene.usual(request) : reply
        }
        let phone = try scene.phone("ada")
        #expect(scene.client.send(.deletion(by: phone.token)).status == 202)
        #expect(try scene.dispatch() == 1)
        #expect(try scene.app.column("SELECT CONCAT(attempts, ' ', lease IS NULL) FROM apple_revocations") == ["1 1"])
        isWell.change { $0 = true }
        scene.app.time.advance(by: .seconds(36))
        #expect(try scene.dispatch() == 1)
        #expect(try scene.queue() == 0)
        #expect(!scene.app.log.lines.contains { $0.contains("refresh-ada") })
    }

    /// Killed between the request and its record, a dispatcher leaves the lease behind. Apple answers 200 for a token that is
    /// revoked already.
    @Test func aDispatcherThatDiesLosesNothing() throws {
        let scene = try AppleScene()
        let phone = try scene.phone("ada")
        #expect(scene.client.send(.deletion(by: phone.token)).status == 202)
        let (accounts, now) = (scene.app.service.accounts, scene.app.time.now)
        func claim() throws -> [AppleRevocation] {
            try scene.app.operate { transaction in
                let due = try AppleRevocation.dueTargets(transaction.connection, at: now, of: accounts)
                return try AppleRevocation.claim(for: due.map { ($0, 2) }, at: now, of: accounts, in: transaction)
            }
        }
        let lost = try claim()
        #expect(lost.map(\.grant?.refreshToken) == ["refresh-ada"])
        #expect(try claim().isEmpty)
        #expect(try scene.dispatch() == 0)
        scene.app.time.advance(by: .seconds(60))
        #expect(try scene.dispatch() == 1)
        #expect(try scene.queue() == 0)
        // Whoever was thought dead has nothing to say any more.
        let recorded = try scene.app.operate {
            try AppleRevocation.record([AttemptOutcome(lost[0], failure: .timeout)], at: now, in: $0)
        }
        #expect(recorded.dead == 0)
        #expect(try scene.queue() == 0)
    }

    @Test func aNewServerKeyOpensThem() throws {
        let scene = try AppleScene()
        let (kept, queued) = (try scene.phone("ada"), try scene.phone("evelyn"))
        #expect(scene.client.send(.deletion(by: queued.token)).status == 202)
        let next = [UInt8](repeating: 8, count: 32)
        let both = ServerKey(current: next, previous: TestApp.serverKeyBytes)
        for column in [SealedColumn.identities, .appleRevocations] {
            let batch = try scene.app.operate { try $0.reseal(column, after: nil, both, isDryRun: false) }
            #expect(batch?.count == 1, "\(column.table)")
        }
        let process = try scene.process(ServerKey(current: next))
        #expect(process.client().send(.deletion(by: kept.token)).status == 202)
        #expect(try scene.dispatch(with: process.service) == 2)
        #expect(Set(scene.forms(at: "/revoke").compactMap { $0["token"] }) == ["refresh-ada", "refresh-evelyn"])
    }

    /// Given up like what Apple refuses.
    @Test func whatNoKeyOpensIsNotSent() throws {
        let scene = try AppleScene()
        let phone = try scene.phone("ada")
        #expect(scene.client.send(.deletion(by: phone.token)).status == 202)
        try scene.app.change("UPDATE apple_revocations SET token_handle = REPEAT('x', 16)")
        #expect(try scene.dispatch() == 1)
        #expect(scene.statistics.snapshot.appleRevocations.attempts[.unsigned] == 1)
        #expect(scene.forms(at: "/revoke").isEmpty)
        let later = scene.app.time.now + .seconds(9)
        let upkeep = try scene.app.sql { try $0.accountsUpkeep(at: later) }
        #expect(upkeep?.revocationDelay == .seconds(9))
    }
}
