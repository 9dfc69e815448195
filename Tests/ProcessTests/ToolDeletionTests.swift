import Foundation
import JSON
import MariaDB
import TestSupport
import Testing

/// `merganserctl purge`, `anonymous prune` and `user restore` (accounts §4.5, §4.6).
@Suite struct ToolDeletionTests {
    private func users(_ installation: Installation) throws -> [Int] {
        try installation.database.connect().all("SELECT id FROM users ORDER BY id") { row in try row.read(Int.self) }
    }

    /// 1 absorbed 3 and is due, as is 2; 4 is deleted, 5 lives.
    private func deletedPeople() throws -> Installation {
        let installation = try Installation()
        try installation.database.connect().executeScript(
            """
            INSERT INTO users (id, name, login_email, deleted_at, purge_at) VALUES
                (1, 'Ada', 'ada@example.com', NOW() - INTERVAL 40 DAY, NOW() - INTERVAL 10 DAY),
                (2, NULL, NULL, NOW() - INTERVAL 31 DAY, NOW() - INTERVAL 1 DAY),
                (3, 'Ada', NULL, NULL, NULL),
                (4, 'Bea', 'bea@example.com', NOW() - INTERVAL 1 DAY, NOW() + INTERVAL 29 DAY),
                (5, 'Cleo', NULL, NULL, NULL);
            INSERT INTO identity_links (primary_user_id, linked_user_id, merged_via, idempotency_key)
                VALUES (1, 3, 't2_email_match', 't2:ada@example.com:3');
            """)
        return installation
    }

    @Test func purgesWhatIsDue() throws {
        let installation = try deletedPeople()
        let before = try installation.database.dump()
        let planned = try installation.tool("purge", "--dry-run", "--json")
        #expect(planned.output == #"{"dry_run":true,"count":3,"ids":[3,1,2]}"# + "\n", "\(planned.errorOutput)")
        #expect(
            try installation.tool("purge", "--dry-run").output
                == "a run would do this; nothing was changed\n3 accounts\n3\n1\n2\n")
        #expect(try installation.database.dump() == before)

        #expect(try installation.tool("purge", "--json").output == #"{"purged":3}"# + "\n")
        #expect(try users(installation) == [4, 5])
        #expect(try !installation.database.dump().contains("ada@example.com"))
        #expect(try installation.tool("purge").output == "0 accounts purged\n")
    }

    @Test func restores() throws {
        let installation = try deletedPeople()
        #expect(try installation.tool("user", "restore", "4", "--json").output == #"{"restored":4}"# + "\n")
        let shown = try installation.tool("user", "show", "4", "--json").json()["user"]
        #expect(shown?["deleted_at"] == .null && shown?["purge_at"] == .null)
        for (id, reason) in [(1, "the grace of user 1 ended"), (4, "user 4 is not deleted"), (9, "there is no user 9")]
        {
            let outcome = try installation.tool("user", "restore", "\(id)", "--json")
            #expect(outcome.exit == .status(1))
            let error = try outcome.errorJSON()
            #expect(error["error"] == "refused")
            #expect(error["message"]?.string?.hasPrefix(reason) == true, "\(error)")
        }
    }

    /// Two rows that cannot be erased now do not keep the others.
    @Test func goesOnAfterOneThatFails() throws {
        let installation = try deletedPeople()
        try installation.database.connect().executeScript(
            """
            CREATE TRIGGER broken BEFORE DELETE ON users FOR EACH ROW
            IF OLD.id = 3 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'broken'; END IF
            """)
        let outcome = try installation.tool("purge", "--json")
        #expect(outcome.exit == .status(1))
        let error = try outcome.errorJSON()
        #expect(error["message"] == "1 of 2 accounts could not be purged; try again")
        #expect(error["problems"]?.array?.first?.string?.contains("broken") == true)
        #expect(try users(installation) == [1, 3, 4, 5])
    }

    /// kill -9 in the middle; the next run does the rest.
    @Test func aKilledPurgeGoesOn() throws {
        let installation = try Installation()
        let db = try installation.database.connect()
        try db.executeScript(
            """
            INSERT INTO users (id, deleted_at, purge_at)
                SELECT seq, NOW() - INTERVAL 31 DAY, NOW() - INTERVAL 1 DAY FROM seq_1_to_60;
            INSERT INTO identities (user_id, provider, sub) SELECT seq, 'apple', CONCAT('s', seq) FROM seq_1_to_60;
            """)
        func left() throws -> Int { try db.first("SELECT COUNT(*) FROM users") { row in try row.read() } ?? 0 }
        let purge = try ChildProcess(
            Repository.program("merganserctl"), ["purge", "--pause", "50"], environment: installation.environment)
        while try purge.isRunning && left() > 50 {}
        purge.kill()
        _ = try purge.waitForExit(atMost: .seconds(60))
        let rest = try left()
        #expect((1...50).contains(rest))
        #expect(try installation.tool("purge", "--json").output == #"{"purged":\#(rest)}"# + "\n")
        #expect(try left() == 0)
        let audited = try db.first("SELECT COUNT(*) FROM audit_log WHERE action = 'user.purged'") { row in
            try row.read(Int.self)
        }
        #expect(audited == 60)
    }

    // MARK: Anonymous accounts

    private func anonymousPeople() throws -> Installation {
        let installation = try Installation()
        try installation.database.connect().executeScript(
            """
            INSERT INTO users (id, anonymous, created_at, last_active_at) VALUES
                (1, TRUE, NOW() - INTERVAL 900 DAY, NOW() - INTERVAL 31 DAY),
                (2, TRUE, NOW() - INTERVAL 900 DAY, NOW() - INTERVAL 29 DAY),
                (3, FALSE, NOW() - INTERVAL 900 DAY, NOW() - INTERVAL 900 DAY),
                (4, TRUE, NOW() - INTERVAL 900 DAY, NOW() - INTERVAL 800 DAY);
            """)
        return installation
    }

    @Test func prunesWhatNobodyUses() throws {
        let installation = try anonymousPeople()
        let before = try installation.database.dump()
        let arguments = ["anonymous", "prune", "--inactive-days", "30", "--json"]
        #expect(
            try installation.tool(arguments + ["--dry-run"]).output == #"{"dry_run":true,"count":2,"ids":[4,1]}"# + "\n"
        )
        #expect(try installation.database.dump() == before)
        #expect(try installation.tool(arguments).output == #"{"pruned":2}"# + "\n")
        #expect(try users(installation) == [2, 3])
        for days in ["0", "-1", "x"] {
            #expect(try installation.tool("anonymous", "prune", "--inactive-days", days).exit == .status(64))
        }
    }

    /// One that cannot be erased now does not keep those who were used later.
    @Test func aPruneGoesOnAfterOneThatFails() throws {
        let installation = try anonymousPeople()
        try installation.database.connect().executeScript(
            """
            CREATE TRIGGER broken BEFORE DELETE ON users FOR EACH ROW
            IF OLD.id = 4 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'broken'; END IF
            """)
        let outcome = try installation.tool("anonymous", "prune", "--inactive-days", "30", "--json")
        #expect(outcome.exit == .status(1))
        let error = try outcome.errorJSON()
        #expect(error["message"] == "1 of 2 accounts could not be pruned; try again")
        #expect(error["problems"]?.array?.first?.string?.contains("broken") == true)
        #expect(try users(installation) == [2, 3, 4])
    }

    /// What the timer runs.
    @Test func theSettingDecidesForTheTimer() throws {
        let installation = try anonymousPeople()
        let name = "MERGANSER_ANONYMOUS_INACTIVE_DAYS"
        #expect(try installation.tool("anonymous", "prune", "--json").output == #"{"pruned":0}"# + "\n")
        #expect(
            try installation.tool(["anonymous", "prune", "--json"], setting: [name: "0"]).output
                == #"{"pruned":0}"# + "\n")
        #expect(try installation.tool(["anonymous", "prune"], setting: [name: "x"]).exit == .status(78))
        #expect(
            try installation.tool(["anonymous", "prune", "--json"], setting: [name: "400"]).output
                == #"{"pruned":1}"# + "\n")
        #expect(try users(installation) == [1, 2, 3])
    }
}
