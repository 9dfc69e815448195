import Foundation
import HTTP
import MariaDB
import Synchronization
import TestSupport
import Testing
import Threads

extension TestApp {
    /// Runs a body on several threads that begin together, each with a client and a connection of its own.
    ///
    /// - Returns: what they returned, by number (from 0).
    func atOnce<Result: Sendable>(
        _ threads: Int, _ body: @escaping @Sendable (_ client: Client, _ thread: Int) -> Result
    ) -> [Result] {
        race(threads, rounds: 1) { client, thread, _ in body(client, thread) }[0]
    }

    /// Like `atOnce`, in several rounds. A round begins after every thread has finished the one before.
    ///
    /// - Returns: what the threads returned in each round.
    func race<Result: Sendable>(
        _ threads: Int, rounds: Int,
        _ body: @escaping @Sendable (_ client: Client, _ thread: Int, _ round: Int) -> Result
    ) -> [[Result]] {
        settle()
        defer { settle() }
        let arrivals = Monitor(0)
        let results = Mutex([[Result?]](repeating: [Result?](repeating: nil, count: threads), count: rounds))
        let running = (0..<threads).map { thread in
            Threads.Thread { [self] in
                let client = client(ofNode: thread)
                // Its connection is there before the first round.
                _ = client.send(.get, "/api/v1/me", token: "lpk_live_unknown")
                for round in 0..<rounds {
                    arrivals.change { $0 += 1 }
                    if arrivals.wait(atMost: .seconds(60), for: { $0 >= (round + 1) * threads ? true : nil }) == nil {
                        Issue.record("round \(round) began without all threads")
                    }
                    let result = body(client, thread, round)
                    results.withLock { $0[round][thread] = result }
                }
            }
        }
        for thread in running { thread.join() }
        return results.withLock { $0.map { $0.compactMap { $0 } } }
    }

    private func settle() {
        do { try database.settle() } catch { Issue.record(error) }
    }

    /// Waits until a count is above zero.
    ///
    /// - Parameter sql: has the schema's name as its argument.
    func waitUntil(_ sql: StaticString, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let db = try database.connect()
        try wait(sourceLocation) {
            try db.first(sql, database.name) { row in try row.read(Int.self) } ?? 0 > 0
        }
    }

    /// Waits until a transaction waits for a lock of another one.
    func waitForALockWait() throws { try database.waitForALockWait(database.connect()) }

    /// Runs a body with a client that would wait for locks for a minute, and checks that it waited for none.
    func withPatientClient<Result>(
        sourceLocation: SourceLocation = #_sourceLocation, _ body: (Client) throws -> Result
    ) throws -> Result {
        var options = database.options
        (options.lockWaitTimeout, options.maxStatementTime, options.readTimeout) = (
            .seconds(60), .seconds(70), .seconds(80)
        )
        let client = try TestApp(database: database, options: options, time: time).client()
        let start = ContinuousClock.now
        let result = try body(client)
        #expect(ContinuousClock.now - start < options.lockWaitTimeout, sourceLocation: sourceLocation)
        return result
    }

    /// Waits until something is so that others do; at most 30 s.
    func wait(
        _ sourceLocation: SourceLocation = #_sourceLocation, until condition: () throws -> Bool
    ) throws {
        let deadline = ContinuousClock.now + .seconds(30)
        while try !condition() {
            try #require(ContinuousClock.now < deadline, sourceLocation: sourceLocation)
            usleep(5000)
        }
    }
}
