import API
import HTTP
import JOSE
import JSON
import MariaDB
import OpenSSL
import TestSupport
import Testing
import Time

@testable import Accounts

/// Values sealed with one server key can be opened with the next one after they have been sealed again.
@Suite struct ServerKeyRotationTests {
    private static let next = [UInt8](repeating: 8, count: 32)
    private static let both = ServerKey(current: next, previous: TestApp.serverKeyBytes)

    let old: TestApp
    let scene: OAuthScene
    let rp: TestClient
    let phone: Phone
    let signingKeyID: String

    init() throws {
        old = try TestApp()
        scene = try OAuthScene(old)
        rp = try scene.register()
        phone = try scene.person()
        signingKeyID = try #require(try old.column("SELECT kid FROM signing_keys").first)
    }

    /// Another process of the same installation.
    private func process(_ serverKey: ServerKey) throws -> TestApp {
        try TestApp(database: old.database, serverKey: serverKey, time: old.time)
    }

    /// Seals everything again in batches, as the command does.
    ///
    /// - Returns: how many values of each table.
    private func rotate(_ app: TestApp? = nil, isDryRun: Bool = false) throws -> [String: Int] {
        try SealedColumn.all.reduce(into: [:]) { counts, column in
            var position: SealedRow.Position?
            while let batch = try old.operate({
                try $0.reseal(column, after: position, Self.both, isDryRun: isDryRun)
            }) {
                counts["\(column.table)", default: 0] += batch.count
                position = batch.position
                #expect(batch.count <= SealedColumn.batch)
            }
        }
    }

    private func addWebhookKeys(_ count: Int) throws {
        let db = try old.database.connect()
        let application = Application.ID(rawValue: Int64(rp.id))
        for number in 1...count {
            let kid = "whk_2026q2_\(number)"
            try db.execute(
                "INSERT INTO webhook_keys (application_id, kid, sealed_secret) VALUES (?, ?, ?)", rp.id, kid,
                old.service.accounts.serverKey.seal(
                    Array("whsec_\(number)".utf8), for: WebhookKey.row(kid, of: application)))
        }
    }

    @Test func everythingOpensUnderTheNextKeyAlone() throws {
        try addWebhookKeys(3)
        let key = [(name: "idempotency-key", value: "0123456789abcdefghijkl")]
        let device: JSONValue = ["device_uuid": .string(uuid(1)), "platform": "ios"]
        let bootstrap = scene.client.send(.post, "/api/v1/devices", device, headers: key)
        let tokens = try scene.signIn(rp, as: phone)
        let refreshed = scene.refresh(tokens.refresh, by: rp)
        #expect(refreshed.status == 200)
        let keyed = try scene.signIn(rp, as: phone)
        let keyedAnswer = scene.refresh(keyed.refresh, by: rp, key: key[0].value)
        #expect(keyedAnswer.status == 200)

        let counts = ["signing_keys": 1, "webhook_keys": 3, "idempotency_records": 1, "refresh_families": 2]
        try old.expectUnchanged {
            let planned = try rotate(isDryRun: true)
            #expect(planned == counts)
        }
        #expect(try rotate() == counts)
        #expect(try rotate().isEmpty)

        let app = try process(ServerKey(current: Self.next))
        #expect(try app.sql { try $0.foreignSeal(to: app.service.accounts.serverKey)?.description } == nil)
        let client = app.client()
        let replayed = client.send(.post, "/api/v1/devices", device, headers: key)
        #expect(replayed.text == bootstrap.text && replayed.header("Idempotency-Replayed") == "true")
        #expect(scene.refresh(tokens.refresh, by: rp, with: client).text == refreshed.text)
        app.time.advance(by: .seconds(31))
        #expect(scene.refresh(keyed.refresh, by: rp, key: key[0].value, with: client).text == keyedAnswer.text)
        #expect(try app.sql { try app.service.accounts.signingKeys.signer($0).keyID } == signingKeyID)
        #expect(try app.privateKey(signingKeyID).pem.hasPrefix("-----BEGIN PRIVATE KEY-----"))
        let secrets = try app.sql { connection in
            try connection.all("SELECT kid, sealed_secret FROM webhook_keys ORDER BY id") { row in
                let kid = try row.read(String.self)
                return try app.service.accounts.serverKey.open(
                    row.read(), for: WebhookKey.row(kid, of: Application.ID(rawValue: Int64(rp.id))))
            }
        }
        #expect(secrets == (1...3).map { Array("whsec_\($0)".utf8) })
        #expect(try old.sql { try $0.foreignSeal(to: old.service.accounts.serverKey)?.value } != nil)
    }

    @Test func whatAgentsAskedIsStillShownAndDecided() throws {
        let agent = try scene.client.agent(of: phone, in: old)
        let approval = try scene.client.ask(agent)
        #expect(try old.sql { try $0.countValues(sealedUnderPredecessorOf: Self.both) } == 2)
        #expect(try rotate()["agent_approvals"] == 1)
        #expect(try old.sql { try $0.countValues(sealedUnderPredecessorOf: Self.both) } == 0)
        let client = try process(ServerKey(current: Self.next)).client()
        let shown = client.send(.get, "/api/v1/me/agent_approvals/\(approval.id)", token: phone.token)
        #expect(shown["context"]?["a"] == "/tmp", "\(shown)")
        #expect(client.decide(approval, "approved", as: phone, number: approval.number).status == 200)
    }

    /// Bytes of any length are sealed, or this test says what else they are.
    @Test func everySealedColumnIsKnown() throws {
        let columns = try old.column(
            """
            SELECT CONCAT(table_name, '.', column_name) FROM information_schema.columns
            WHERE table_schema = DATABASE() AND data_type IN ('varbinary', 'tinyblob', 'blob', 'mediumblob', 'longblob')
            ORDER BY table_name, column_name
            """)
        let notSealed: Set = ["webhook_outbox.raw_payload"]
        #expect(columns.filter { !notSealed.contains($0) } == SealedColumn.all.map(\.name).sorted())
    }

    @Test func tokensOfAppleAreCounted() throws {
        let (current, next) = (old.service.accounts.serverKey, ServerKey(current: Self.next))
        let handle = [UInt8](repeating: 7, count: 16)
        func seal(_ key: ServerKey) -> [UInt8] { key.seal(Array("refresh".utf8), for: SealedAppleGrant.row(handle)) }
        try old.change(
            "UPDATE identities SET apple_client_id = 'c', apple_token_handle = ?, apple_token = ?", handle,
            seal(current))
        try old.change(
            """
            INSERT INTO apple_revocations (client_id, token_handle, token, next_attempt_at) VALUES ('c', ?, ?, NOW(3))
            """, handle, seal(current))
        // With the signing key.
        #expect(try old.sql { try $0.countValues(sealedUnderPredecessorOf: Self.both) } == 3)
        #expect(try foreign()?.hasPrefix("signing key ") == true)
        try old.change("DELETE FROM signing_keys")
        func foreign() throws -> String? { try old.sql { try $0.foreignSeal(to: next)?.value } ?? nil }
        // They keep no server from its start: it can do without them, and a table of all users is not read for that.
        #expect(try foreign() == nil)
    }

    /// A journal's parts, numbered from 0, of so many bytes each.
    private func addJournalParts(_ sizes: [Int]) throws {
        let db = try old.database.connect()
        let journal = MergeJournal.ID(
            rawValue: Int64(
                try db.execute(
                    """
                    INSERT INTO merge_journals (survivor_user_id, absorbed_user_id, merged_via, created_at, expires_at)
                    VALUES (?, 41, 'anonymous_swap', ?, ?)
                    """, phone.userID, old.time.now, old.time.now + .seconds(86_400)
                ).lastInsertID))
        for (number, size) in sizes.enumerated() {
            for kind in ["accounts", "records"] {
                let row = MergeJournal.partRow(journal, kind: kind, number: number)
                let contents = row + [UInt8](repeating: 7, count: size)
                try db.execute(
                    "INSERT INTO merge_journal_parts (journal_id, kind, number, sealed) VALUES (?, ?, ?, ?)", journal,
                    kind, number, old.service.accounts.serverKey.seal(contents, for: row))
            }
        }
    }

    /// How many parts a key opens, each with its own contents.
    private func openJournalParts(_ key: ServerKey) throws -> Int {
        try old.sql { connection in
            try connection.all("SELECT journal_id, kind, number, sealed FROM merge_journal_parts") { row in
                let journal = try row.read(MergeJournal.ID.self)
                let kind = try row.read(String.self)
                let identity = MergeJournal.partRow(journal, kind: kind, number: try row.read())
                return (try? key.open(row.read(), for: identity))?.starts(with: identity) == true
            }
        }.count { $0 }
    }

    @Test func whatMergesKeptOpensUnderTheNextKeyAlone() throws {
        try addJournalParts([0, 100])
        try addJournalParts([5])
        #expect(try old.sql { try $0.countValues(sealedUnderPredecessorOf: Self.both) } == 7)
        #expect(try rotate(isDryRun: true)["merge_journal_parts"] == 6)
        #expect(try openJournalParts(old.service.accounts.serverKey) == 6)
        #expect(try rotate()["merge_journal_parts"] == 6)
        #expect(try openJournalParts(ServerKey(current: Self.next)) == 6)
        #expect(try openJournalParts(old.service.accounts.serverKey) == 0)
        #expect(try old.sql { try $0.countValues(sealedUnderPredecessorOf: Self.both) } == 0)
        // For a part, not for another one.
        try old.change("UPDATE merge_journal_parts SET number = number + 7")
        #expect(try openJournalParts(ServerKey(current: Self.next)) == 0)
    }

    /// A statement with more of them would be larger than the server takes.
    @Test func largeValuesAreSealedAgainInFewerAtATime() throws {
        try addJournalParts([4 << 20, 3 << 20, 100])
        #expect(try rotate()["merge_journal_parts"] == 6)
        #expect(try openJournalParts(ServerKey(current: Self.next)) == 6)
        let audited = try old.column(
            """
            SELECT JSON_VALUE(details, '$.values') FROM audit_log
            WHERE action = 'server_key.rotated' AND JSON_VALUE(details, '$.resealed') = 'merge_journal_parts' ORDER BY id
            """)
        #expect(audited == ["1", "1", "1", "3"])
    }

    @Test func manyValuesAreSealedAgainInSmallTransactions() throws {
        try addWebhookKeys(250)
        #expect(try rotate()["webhook_keys"] == 250)
        let audited = try old.column(
            """
            SELECT CONCAT(JSON_VALUE(details, '$.resealed'), ' ', JSON_VALUE(details, '$.values')) FROM audit_log
            WHERE action = 'server_key.rotated' ORDER BY id
            """)
        #expect(audited == ["signing_keys 1", "webhook_keys 100", "webhook_keys 100", "webhook_keys 50"])
    }

    /// A concurrent request may write between reading and writing.
    @Test func aValueThatChangedMeanwhileIsLeftAlone() throws {
        try addWebhookKeys(2)
        let db = try old.database.connect()
        let rows = try SealedColumn.webhookKeys.rows(
            sealedBy: old.service.accounts.serverKey.ids.current, after: nil, atMost: SealedColumn.batch, db)
        try db.execute("UPDATE webhook_keys SET sealed_secret = 'new' ORDER BY id LIMIT 1")
        let replaced = try old.operate { transaction in
            try SealedColumn.webhookKeys.replace(
                rows.map { (old: $0, sealed: [UInt8]("old".utf8)) }, transaction.connection)
        }
        #expect(replaced == 1)
        #expect(try old.column("SELECT sealed_secret FROM webhook_keys ORDER BY id") == ["new", "old"])
    }

    @Test func aValueThatDoesNotOpenStopsTheRotation() throws {
        try addWebhookKeys(1)
        try old.change("UPDATE webhook_keys SET sealed_secret = CONCAT(LEFT(sealed_secret, 20), 'x')")
        try old.expectUnchanged {
            let error = try #require(throws: RefusedOperation.self) {
                try old.operate { try $0.reseal(.webhookKeys, after: nil, Self.both, isDryRun: false) }
            }
            #expect(error.description.contains("webhook_key:\(rp.id):whk_2026q2_1"))
        }
    }

    @Test func nothingIsMadeUnderAWrongKey() throws {
        let wrong = ServerKey(current: Self.next)
        let key = try PrivateKey.generateRSA()
        try old.expectUnchanged {
            let error = try #require(throws: RefusedOperation.self) {
                try old.operate { try $0.publish(key, sealedUnder: wrong) }
            }
            #expect(error.description.contains("signing key \(signingKeyID) was sealed under another server key"))
        }
        try old.change("UPDATE signing_keys SET sealed_private_key = NULL")
        try addWebhookKeys(1)
        #expect(throws: RefusedOperation.self) { try old.operate { try $0.publish(key, sealedUnder: wrong) } }
        // A key that is to become the next one opens, but does not seal.
        try old.operate { _ = try $0.publish(key, sealedUnder: Self.both) }
    }
}
