import Database
import MariaDB
import Migrations
import TestSupport
import Testing
import Threads

/// Migrations 38 and 39 fill `verified_addresses` and `has_revoked_tokens` for what is there already, while the release before
/// writes.
@Suite struct SubjectMarksTests {
    private let database: TestDatabase
    private let migrations: [Migration]

    init() throws {
        database = try TestDatabase(migrated: false)
        migrations = try Migration.load(directory: TestDatabase.sqlDirectory)
        try Migrator(Array(migrations.prefix(37))).up(connect())
    }

    private func connect() throws -> Connection { try Connection(database.options.forMigrations) }

    private func migrate() throws { try Migrator(Array(migrations.prefix(39))).up(connect()) }

    /// Ids with gaps, more than one batch.
    @Test func everyUserGetsItsVerifiedAddresses() throws {
        let db = try connect()
        try db.execute("INSERT INTO users (id) SELECT seq * 3 FROM seq_1_to_2500")
        try db.execute(
            """
            INSERT INTO identities (user_id, provider, sub, email, email_verified)
            SELECT seq * 3, 'apple', seq, IF(seq MOD 5 = 0, NULL, CONCAT('Å"', seq, '@example.com')), seq MOD 7 > 0
            FROM seq_1_to_2500
            """)
        try db.execute(
            """
            INSERT INTO identities (user_id, provider, sub, email, email_verified)
            SELECT seq * 3, 'google', seq, 'second@example.com', TRUE FROM seq_1_to_2500 WHERE seq MOD 100 = 0
            """)
        try migrate()
        #expect(try db.otherAddresses() == [])
        let count = try db.first("SELECT COUNT(verified_addresses) FROM users") { row in try row.read(Int.self) }
        // 2500 without 500 (no address), 357 (not verified), but 71 (both); 25 have a second one, and no first.
        #expect(count == 2500 - 500 - 357 + 71 + 25)
        let text = try db.first("SELECT verified_addresses FROM users WHERE id = 3") { row in try row.read(String.self)
        }
        #expect(text == #"["Å\"1@example.com"]"#)
    }

    /// The locks of a batch end with it; and what is unlinked while it waits stays unlinked.
    @Test func aBatchReadsUnderItsOwnLocks() throws {
        let db = try connect()
        try migrate()
        // The migration's statement again, with the triggers already there.
        try db.execute("INSERT INTO users (id) SELECT seq FROM seq_1_to_3000")
        try db.execute(
            """
            INSERT INTO identities (user_id, provider, sub, email, email_verified)
            SELECT seq, 'apple', seq, CONCAT(seq, '@example.com'), TRUE FROM seq_1_to_3000
            """)
        try db.execute("UPDATE users SET verified_addresses = NULL")
        let fill = try #require(migrations[37].statements.first { $0.hasPrefix("BEGIN NOT ATOMIC") })
        let (unlinking, other) = (try database.connect(), try database.connect())
        try unlinking.begin()
        try unlinking.execute("SELECT id FROM users WHERE id IN (2500, 2501) FOR UPDATE")
        let database = database
        let failure = Monitor<String?>(nil)
        let thread = Thread {
            do {
                let db = try database.connect()
                try db.execute("SET innodb_lock_wait_timeout = 60")
                _ = try db.query(fill)
            } catch { failure.change { $0 = "\(error)" } }
        }
        try database.waitForALockWait(other)
        #expect(
            try other.first("SELECT verified_addresses FROM users WHERE id = 1 FOR UPDATE") { row in
                try row.read(String?.self)
            } == #"["1@example.com"]"#)
        // Over NULL, which no later writer repairs.
        try unlinking.execute("DELETE FROM identities WHERE user_id = 2500")
        try unlinking.commit()
        thread.join()
        #expect(failure.withLock { $0 } == nil)
        #expect(try db.otherAddresses() == [])
    }

    /// The one trigger writes addresses that the next one would have changed.
    @Test func whatChangesBetweenTwoTriggers() throws {
        let db = try connect()
        try db.execute("INSERT INTO users (id) VALUES (1), (2)")
        let all = migrations[37].statements
        let second = try #require(all.firstIndex { $0.hasPrefix("CREATE TRIGGER identities_addresses_update ") })
        for statement in all[..<second] { try db.query(statement) }
        try db.execute(
            """
            INSERT INTO identities (user_id, provider, sub, email, email_verified)
            VALUES (1, 'apple', '1', 'a@example.com', TRUE), (2, 'apple', '2', 'b@example.com', TRUE),
                (2, 'google', '2', 'c@example.com', TRUE)
            """)
        try db.execute("DELETE FROM identities WHERE user_id = 1 OR provider = 'google'")
        for statement in all[second...] { try db.query(statement) }
        #expect(try db.otherAddresses() == [1, 2])
        for statement in migrations[38].statements { try db.query(statement) }
        #expect(try db.otherAddresses() == [])
    }

    /// Locks a user, as whoever changes an identity does, and links, changes, moves and unlinks meanwhile.
    @Test func theReleaseBeforeWritesMeanwhile() throws {
        let (users, db) = (64, try connect())
        try db.execute("INSERT INTO users (id) SELECT seq FROM seq_1_to_3000")
        try db.execute(
            """
            INSERT INTO identities (user_id, provider, sub, email, email_verified)
            SELECT seq, 'apple', seq, CONCAT(seq, '@example.com'), TRUE FROM seq_1_to_3000
            """)
        let database = database
        let problems = Monitor<[String]>([])
        // A deadlock ends a transaction now and then, and the release repeats it; nothing ends a thousand of them.
        let (isMigrated, most) = (Monitor(false), 1000)
        let threads = (0..<3).map { thread in
            Thread {
                do {
                    let db = try database.connect()
                    var (number, repeats) = (0, 0)
                    while !isMigrated.withLock({ $0 }) || number < 240 {
                        let (user, other) = (1 + (number * 7 + thread) % users, 1 + (number * 11) % users)
                        do {
                            try db.write(user: user, other: other, step: number % 4, thread: thread)
                        } catch let error as MariaDBError where error.isTransient && repeats < most {
                            try db.rollback()
                            repeats += 1
                            continue
                        }
                        number += 1
                    }
                } catch { problems.change { $0.append("\(error)") } }
            }
        }
        let outcome = Result { try migrate() }
        isMigrated.change { $0 = true }
        for thread in threads { thread.join() }
        try outcome.get()
        #expect(problems.withLock { $0 } == [])
        #expect(try db.otherAddresses() == [])
    }

    @Test func familiesWithRevokedTokensAreMarked() throws {
        let db = try connect()
        try db.execute("INSERT INTO users (id) VALUES (1)")
        try db.execute(
            "INSERT INTO applications (id, client_id, name, client_type) VALUES (1, 'logi_1', 'Shop', 'public')")
        try db.execute("INSERT INTO grants (id, user_id, application_id, sub) VALUES (1, 1, 1, '1')")
        try db.execute(
            "INSERT INTO refresh_families (id, grant_id, handle) SELECT seq, 1, REPEAT(CHAR(96 + seq), 16) FROM seq_1_to_3"
        )
        try db.execute(
            "INSERT INTO refresh_families (id, grant_id) VALUES (4, 1)")
        func revoke(_ handle: String, _ rest: String) throws {
            try db.execute(
                """
                INSERT INTO revoked_access_tokens (jti, expires_at) VALUES (CONCAT(REPEAT(?, 16), REPEAT(?, 8)), NOW(3))
                ON DUPLICATE KEY UPDATE jti = VALUES(jti)
                """, handle, rest)
        }
        func marked() throws -> [Int] {
            try db.all("SELECT id FROM refresh_families WHERE has_revoked_tokens ORDER BY id") { row in try row.read() }
        }
        try revoke("a", "1")
        try revoke("a", "2")
        try revoke("z", "1")
        try migrate()
        #expect(try marked() == [1])
        try revoke("b", "1")
        try revoke("b", "1")
        #expect(try marked() == [1, 2])
    }
}

extension Connection {
    /// The users whose `verified_addresses` are not those of their identities.
    fileprivate func otherAddresses() throws -> [Int] {
        try all(
            """
            SELECT u.id FROM users u WHERE NOT u.verified_addresses <=> (
                SELECT JSON_ARRAYAGG(i.email) FROM identities i
                WHERE i.user_id = u.id AND i.email_verified AND i.email IS NOT NULL)
            """
        ) { row in try row.read() }
    }

    /// One transaction of the release before.
    fileprivate func write(user: Int, other: Int, step: Int, thread: Int) throws {
        try begin()
        try execute("SELECT id FROM users WHERE id IN (?, ?) ORDER BY id FOR UPDATE", user, other)
        switch step {
        case 0:
            try execute(
                """
                INSERT INTO identities (user_id, provider, sub, email, email_verified) VALUES (?, ?, ?, ?, TRUE)
                ON DUPLICATE KEY UPDATE email = VALUES(email)
                """, user, "google\(thread)", "\(user)", "g\(thread).\(user)@example.com")
        case 1:
            try execute(
                "UPDATE identities SET email = CONCAT('x', email), email_verified = NOT email_verified WHERE user_id = ?",
                user)
        case 2: try execute("UPDATE identities SET user_id = ? WHERE user_id = ?", other, user)
        default: try execute("DELETE FROM identities WHERE user_id = ? ORDER BY id LIMIT 1", user)
        }
        try commit()
    }
}
