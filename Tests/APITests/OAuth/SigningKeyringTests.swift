import API
import Accounts
import Database
import JOSE
import MariaDB
import OpenSSL
import TestSupport
import Testing
import Text
import Threads
import Time

/// The signing keys in a process's memory (accounts §2.10). A process is a key ring with a connection.
@Suite struct SigningKeyringTests {
    let app: TestApp
    let database: Database
    let db: Connection

    init() throws {
        app = try TestApp()
        database = Database(app.database.options)
        db = try app.database.connect()
    }

    private func process() -> SigningKeyring {
        SigningKeyring(serverKey: app.service.accounts.serverKey, clock: app.time.clock)
    }

    private func published(by process: SigningKeyring) throws -> Set<String> {
        let document = try process.document(database).flatMap(KeySet.init(json:))
        let keySet = try process.keySet(db)
        #expect(Set((document?.keys ?? []).map(\.keyID)) == Set(keySet.keys.map(\.keyID)))
        return Set(keySet.keys.map(\.keyID))
    }

    // MARK: The life of a key

    @Test func theFirstKeySignsAtOnceInEveryProcess() throws {
        let (one, other) = (process(), process())
        for process in [one, other] {
            #expect(try published(by: process).isEmpty)
            #expect(throws: SigningKeyUnavailable.self) { try process.signer(db) }
        }
        let key = try app.generateSigningKey()
        for process in [one, other] {
            #expect(try published(by: process) == [key.keyID])
            #expect(throws: SigningKeyUnavailable.self) { try process.signer(db) }
        }
        #expect(try app.activateSigningKey() == app.time.now)
        for process in [one, other] { #expect(try process.signer(db).keyID == key.keyID) }
    }

    @Test func aKeyIsPublishedForAnHourThenSignsThenStaysForNinetyDays() throws {
        let process = process()
        let first = try app.generateSigningKey()
        try app.activateSigningKey()
        let second = try app.generateSigningKey()
        app.time.advance(by: .seconds(10))
        #expect(try published(by: process) == [first.keyID, second.keyID])
        #expect(throws: RefusedOperation.self) { try app.activateSigningKey() }
        app.time.advance(by: .seconds(3589))
        #expect(throws: RefusedOperation.self) { try app.activateSigningKey() }
        app.time.advance(by: .seconds(1))
        let start = try app.activateSigningKey()
        #expect(start == second.publishedAt + .seconds(3630))
        _ = try process.signer(db)
        app.time.advance(by: .milliseconds(29_999))
        #expect(try process.signer(db).keyID == first.keyID)
        // To the moment, although the copy is fresh.
        app.time.advance(by: .milliseconds(1))
        #expect(try process.signer(db).keyID == second.keyID)

        app.time.advance(by: .seconds(90 * 86_400 - 1))
        #expect(try published(by: process) == [first.keyID, second.keyID])
        app.time.advance(by: .seconds(11))
        #expect(try published(by: process) == [second.keyID])
        #expect(try process.signer(db).keyID == second.keyID)
    }

    @Test func aForcedKeySignsWhenEveryProcessPublishesIt() throws {
        let idle = process()
        let first = try app.generateSigningKey()
        try app.activateSigningKey()
        #expect(try published(by: idle) == [first.keyID])
        let second = try app.generateSigningKey()
        #expect(try app.activateSigningKey(isForced: true) == second.publishedAt + .seconds(30))
        let signing = process()
        #expect(try signing.signer(db).keyID == first.keyID)
        app.time.advance(by: .seconds(30))
        #expect(try signing.signer(db).keyID == second.keyID)
        #expect(try published(by: idle) == [first.keyID, second.keyID])
    }

    @Test func severalKeysMayWait() throws {
        try app.addSigningKey()
        let waiting = try [app.generateSigningKey(), app.generateSigningKey()].map(\.keyID)
        app.time.advance(by: .seconds(3600))
        let unnamed = try #require(throws: RefusedOperation.self) { try app.activateSigningKey() }
        #expect(waiting.allSatisfy(unnamed.description.contains))
        try app.activateSigningKey(waiting[1])
        app.time.advance(by: .seconds(60))
        #expect(try process().signer(db).keyID == waiting[1])
        try app.activateSigningKey(waiting[0])
        #expect(try process().signer(db).keyID == waiting[0])
        for keyID in waiting {
            let again = try #require(throws: RefusedOperation.self) { try app.activateSigningKey(keyID) }
            #expect(again.description.contains("is already activated"))
        }
        #expect(throws: RefusedOperation.self) { try app.activateSigningKey("0000000000000000") }
    }

    // MARK: What a process keeps

    /// Gives the only key another name.
    private static let renaming: StaticString = """
        UPDATE signing_keys
        SET kid = 'ffffffffffffffff', public_jwk = JSON_SET(public_jwk, '$.kid', 'ffffffffffffffff')
        """

    @Test func aProcessFollowsWithinThirtySecondsHoweverOftenItIsAsked() throws {
        for step in [1, 7, 29] {
            let process = process()
            try app.generateSigningKey()
            let before = try published(by: process)
            let added = try app.generateSigningKey().keyID
            var seen = before
            for _ in 0..<(30 / step) {
                app.time.advance(by: .seconds(step))
                seen = try published(by: process)
            }
            #expect(seen == before.union([added]))
        }
    }

    @Test func aFreshCopyAsksNobody() throws {
        try app.addSigningKey()
        let process = process()
        let keyID = try process.signer(db).keyID
        try db.execute(Self.renaming)
        app.time.advance(by: .milliseconds(9999))
        #expect(try process.signer(db).keyID == keyID)
        #expect(try published(by: process) == [keyID])
        app.time.advance(by: .milliseconds(1))
        #expect(try published(by: process) == ["ffffffffffffffff"])
    }

    @Test func theOldCopyServesWhileTheDatabaseFails() throws {
        try app.addSigningKey()
        let process = process()
        let before = (try process.signer(db).keyID, try published(by: process))
        try db.execute("RENAME TABLE signing_keys TO hidden_keys")
        for _ in 1...3 {
            app.time.advance(by: .seconds(3600))
            #expect(try process.signer(db).keyID == before.0)
            #expect(try published(by: process) == before.1)
        }
        #expect(throws: MariaDBError.self) { try self.process().signer(db) }
        try db.execute("RENAME TABLE hidden_keys TO signing_keys")
        let added = try app.generateSigningKey().keyID
        app.time.advance(by: .seconds(1))
        #expect(try published(by: process) == before.1.union([added]))
    }

    @Test func aClockThatIsSetBackStopsNothing() throws {
        try app.addSigningKey()
        let process = process()
        app.time.advance(by: .seconds(86_400))
        #expect(try published(by: process).count == 1)
        app.time.advance(by: .seconds(-80_000))
        try app.generateSigningKey()
        #expect(try published(by: process).count == 2)
    }

    /// Once opened, a key continues to sign even if the server key has changed since.
    @Test func aPrivateKeyIsOpenedOnce() throws {
        try app.addSigningKey()
        let process = process()
        _ = try process.signer(db)
        try db.execute("UPDATE signing_keys SET sealed_private_key = REPEAT('x', 2000)")
        app.time.advance(by: .seconds(11))
        let token = try process.signer(db).sign(["iss": "x"])
        try JWT(token).verify(with: process.keySet(db))
        #expect(throws: SigningKeyUnavailable.self) { try self.process().signer(db) }
        #expect(try published(by: self.process()).count == 1)
    }

    /// The other threads use the old copy until it is too old.
    @Test func oneThreadReadsForAll() throws {
        try app.addSigningKey()
        let process = process()
        let before = try published(by: process)
        app.time.advance(by: .seconds(12))
        let locked = try app.database.connect()
        try locked.executeScript("LOCK TABLES signing_keys WRITE")

        let answers = Monitor<[Set<String>]>([])
        func ask(_ threads: Int) -> [Threads.Thread] {
            (0..<threads).map { _ in
                Threads.Thread { [app] in
                    let keySet = try? process.keySet(app.database.connect())
                    answers.change { $0.append(Set((keySet?.keys ?? []).map(\.keyID))) }
                }
            }
        }
        let early = ask(8)
        #expect(answers.wait(atMost: .seconds(30)) { $0.count == 7 ? $0 : nil } == Array(repeating: before, count: 7))
        try app.waitUntil(
            "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = ? AND STATE LIKE 'Waiting for table%'")
        app.time.advance(by: .seconds(8))
        let late = ask(8)
        try locked.execute(Self.renaming)
        try locked.executeScript("UNLOCK TABLES")
        for thread in early + late { thread.join() }
        #expect(answers.withLock { $0.dropFirst(7) } == Array(repeating: ["ffffffffffffffff"], count: 9)[...])
    }

    // MARK: Nothing unpublished signs

    @Test func theSchemaKnowsNoKeyThatSignsUnpublished() throws {
        try app.addSigningKey()
        let refused: [StaticString] = [
            "UPDATE signing_keys SET public_jwk = NULL",
            "UPDATE signing_keys SET public_jwk = NULL, retired_at = NOW() + INTERVAL 1 DAY",
            "UPDATE signing_keys SET published_at = NULL",
            "UPDATE signing_keys SET published_at = activated_at + INTERVAL 1 SECOND",
            "UPDATE signing_keys SET retired_at = activated_at - INTERVAL 1 SECOND",
            "UPDATE signing_keys SET public_jwk = 'x'",
            "UPDATE signing_keys SET kid = NULL",
            """
            INSERT INTO signing_keys (kid, sealed_private_key, published_at) VALUES ('0000000000000000', 'x', NOW())
            """,
            "INSERT INTO signing_keys (kid, published_at) VALUES ('0000000000000000', NOW())",
            """
            INSERT INTO signing_keys (kid, public_jwk, published_at, activated_at)
            SELECT kid, public_jwk, published_at, activated_at FROM signing_keys
            """,
        ]
        try app.expectUnchanged {
            for sql in refused { #expect(throws: MariaDBError.self, "\(sql)") { try db.execute(sql) } }
        }
    }

    @Test func aKeySignsOnlyWhatItsPublishedPartVerifies() throws {
        try app.addSigningKey()
        let other = try PrivateKey.generateRSA()
        guard case .rsa(let modulus, _) = other.publicKey.components else {
            Issue.record("not an RSA key")
            return
        }
        try db.execute(
            "UPDATE signing_keys SET public_jwk = JSON_SET(public_jwk, '$.n', ?)", Base64URL.encode(modulus))
        let error = try #require(throws: SigningKeyUnavailable.self) { try process().signer(db) }
        #expect(error.description.contains("does not match its private part"))
        try db.execute("UPDATE signing_keys SET public_jwk = '{}'")
        #expect(throws: SigningKeyUnavailable.self) { try process().signer(db) }
    }

    @Test func aKeyThatServersCannotOpenIsNotActivated() throws {
        let key = try app.generateSigningKey()
        try db.execute("UPDATE signing_keys SET sealed_private_key = REPEAT('x', 2000)")
        try app.expectUnchanged {
            let error = try #require(throws: RefusedOperation.self) { try app.activateSigningKey() }
            #expect(error.description.contains(key.keyID) && error.description.contains("MERGANSER_SERVER_KEY"))
        }
    }

    // MARK: What is left of a key

    @Test func thePartsOfARetiredKeyGoAndItsNameStays() throws {
        func collect() throws -> Int { try app.operate { try $0.collect(.signingKeys, loginHistory: .zero) } }
        func parts() throws -> [String] {
            try app.column(
                "SELECT CONCAT(public_jwk IS NOT NULL, sealed_private_key IS NOT NULL) FROM signing_keys ORDER BY id")
        }
        try app.addSigningKey()
        try app.generateSigningKey()
        app.time.advance(by: .seconds(4000))
        try app.activateSigningKey()
        app.time.advance(by: .milliseconds(86_399_999))
        #expect(try collect() == 0)
        #expect(try parts() == ["11", "11"])
        app.time.advance(by: .milliseconds(1))
        #expect(try collect() == 1)
        #expect(try parts() == ["10", "11"])
        #expect(try collect() == 0)
        app.time.advance(by: .milliseconds(89 * 86_400_000 - 1))
        #expect(try collect() == 0)
        app.time.advance(by: .milliseconds(1))
        #expect(try collect() == 1)
        #expect(try parts() == ["00", "11"])
        #expect(try db.signingKeys().map { $0.state(at: app.time.now) } == [.removed, .active])
    }
}
