import MariaDB
import TestSupport
import Testing
import Threads

extension SwapScene {
    /// Sends a request with an Idempotency-Key, and runs `change` after its authentication and before its transaction
    /// reads anything. Until then, the request waits to insert its idempotency record.
    func send(_ request: RepeatableRequest, meanwhile change: () throws -> Void) throws -> Answer {
        let gate = try app.database.connect()
        try gate.executeScript(
            """
            CREATE TRIGGER gate BEFORE INSERT ON idempotency_records FOR EACH ROW
            BEGIN
                DO GET_LOCK(DATABASE(), 30);
                DO RELEASE_LOCK(DATABASE());
            END;
            DO GET_LOCK(DATABASE(), 0)
            """)
        let answer = Monitor(Answer?.none)
        let thread = Thread { [app] in
            let result = app.client().send(request)
            answer.change { $0 = result }
        }
        defer { thread.join() }
        try waitForOneAtTheGate()
        try change()
        try gate.executeScript("DO RELEASE_LOCK(DATABASE()); DROP TRIGGER gate")
        return try #require(answer.wait(atMost: .seconds(30)) { $0 })
    }

    /// Sends a request that waits for the lock of a user; the change is committed, and the lock given up, when it does.
    func send(
        _ request: RepeatableRequest, whileLocked user: Int, _ change: (Connection) throws -> Void
    ) throws -> Answer {
        try send(request, whileHeld: "SELECT id FROM users WHERE id = \(user) FOR UPDATE", change)
    }

    /// Sends a request that waits for the rows that a statement locks. When it does, `body` runs in the transaction that
    /// holds them, which is then committed.
    func send(
        _ request: RepeatableRequest, whileHeld rows: String, _ body: (Connection) throws -> Void
    ) throws -> Answer {
        let (holder, watcher) = (try app.database.connect(), try app.database.connect())
        try holder.executeScript("START TRANSACTION; \(rows)")
        let answer = Monitor(Answer?.none)
        let thread = Thread { [app] in
            let result = app.client().send(request)
            answer.change { $0 = result }
        }
        defer { thread.join() }
        try app.database.waitForALockWait(watcher) { answer.withLock { $0.map { "\($0)" } } }
        try body(holder)
        try holder.executeScript("COMMIT")
        return try #require(answer.wait(atMost: .seconds(30)) { $0 })
    }

    private func waitForOneAtTheGate() throws {
        let deadline = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < deadline {
            let waiting = try db.query(
                "SELECT 1 FROM information_schema.processlist WHERE state = 'User lock' AND db = DATABASE()")
            if !waiting.isEmpty { return }
        }
        Issue.record("nobody came to the gate")
    }
}
