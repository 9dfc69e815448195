import Accounts
import Database
import IdentityTokens
import Logging
import MariaDB
import Migrations
import Threads
import Time

/// Whether this instance can answer requests, looked at once a second by a thread of its own.
///
/// Asking therefore costs nothing and waits for nothing, even while the database hangs.
final class Readiness: Sendable {
    struct Report: Sendable {
        struct Missing: Encodable, Sendable {
            /// `database`, `schema`, `server_key`, `socket` or `draining`; `key_set_apple` or `key_set_google`.
            let check: String
            let problem: String
        }

        /// What this instance cannot serve without.
        fileprivate(set) var missing: [Missing] = []
        /// What it serves without: all but the tokens of a provider.
        fileprivate(set) var degraded: [Missing] = []
        /// What no waiting changes, in words for the operator.
        fileprivate(set) var hopeless: String?

        var isReady: Bool { missing.isEmpty }
        var summary: String { missing.map { "\($0.check) (\($0.problem))" }.joined(separator: ", ") }
    }

    private enum DatabaseState: Equatable {
        case unknown
        case fit
        case unfit(SchemaCheck.Problem)
        case sealed(String)
        case unreachable(String)
    }

    private enum Phase {
        case starting, serving, draining
    }

    private struct State {
        var database = DatabaseState.unknown
        var checkedAt = ContinuousClock.now
        var phase = Phase.starting
        var upkeep: Upkeep?
        var isStopping = false
        var thread: Thread?
    }

    private let state = Monitor(State())
    private let keySets: IdentityTokenVerifier
    private let serverKey: ServerKey
    private let logger: Logger
    private let makeDatabase: @Sendable () -> Database
    private let tombstoneGrace: Duration

    init(
        _ makeDatabase: @escaping @Sendable () -> Database, _ keySets: IdentityTokenVerifier, _ serverKey: ServerKey,
        tombstoneGrace: Duration, _ logger: Logger
    ) {
        self.makeDatabase = makeDatabase
        self.keySets = keySets
        self.serverKey = serverKey
        self.tombstoneGrace = tombstoneGrace
        self.logger = logger
    }

    func start() { state.withLock { $0.thread = Thread { self.watch() } } }

    /// Returns when the thread has ended.
    func stop() {
        let thread = state.change { state in
            state.isStopping = true
            defer { state.thread = nil }
            return state.thread
        }
        thread?.join()
    }

    /// To be called when nginx's socket is this instance's. Before, it is not ready: whoever waits for it to be stops its
    /// predecessor next.
    func beginServing() { state.withLock { $0.phase = .serving } }

    /// From now on the instance is not ready, so that nobody new is sent to it.
    func beginDraining() { state.withLock { $0.phase = .draining } }

    var report: Report {
        var report = requirements
        switch state.withLock({ $0.phase }) {
        case .starting where report.isReady: report.add("socket", "this instance does not serve yet")
        case .starting, .serving: break
        case .draining: report.add("draining", "this instance is about to leave")
        }
        return report
    }

    /// What must hold before this instance can serve.
    var requirements: Report {
        let (database, age) = state.withLock { ($0.database, ContinuousClock.now - $0.checkedAt) }
        var report = Report()
        switch database {
        // Beyond every time-out of a connection, so something else is wrong.
        case _ where age > .seconds(30): report.add("database", "no answer for \(age.components.seconds) s")
        case .unknown: report.add("database", "not asked yet")
        case .fit: break
        case .unreachable(let reason): report.add("database", reason)
        case .unfit(let problem):
            report.add("schema", "\(problem)")
            report.hopeless = "\(problem)"
        case .sealed(let problem):
            report.add("server_key", problem)
            report.hopeless = "MERGANSER_SERVER_KEY: \(problem)"
        }
        report.degraded = keySets.status.sorted { $0.key.rawValue < $1.key.rawValue }.filter { !$0.value.isReady }
            .map { .init(check: "key_set_\($0.key.rawValue)", problem: $0.value.lastError ?? "not fetched yet") }
        return report
    }

    /// What the jobs have left undone, as of half a minute ago at most; nil while the database does not answer.
    var upkeep: Upkeep? { state.withLock(\.upkeep) }

    private func watch() {
        let database = makeDatabase()
        var previous = DatabaseState.unknown
        var hasServed = false
        var previousFailures: [Provider: String] = [:]
        var nextUpkeep = ContinuousClock.now
        while true {
            let found = check(database, isFirst: !hasServed)
            if found == .fit { hasServed = true }
            if found != previous { log(found) }
            previous = found
            let failures = keySets.status.compactMapValues(\.lastError)
            for (provider, failure) in failures where failure != previousFailures[provider] {
                logger.warning(
                    "key set cannot be fetched, tried again",
                    metadata: ["provider": "\(provider.rawValue)", "reason": "\(failure)"])
            }
            previousFailures = failures
            state.withLock { state in
                state.database = found
                state.checkedAt = .now
            }
            if found != .fit {
                state.withLock { $0.upkeep = nil }
                nextUpkeep = .now
            } else if ContinuousClock.now >= nextUpkeep {
                let upkeep = upkeep(of: database)
                state.withLock { $0.upkeep = upkeep }
                nextUpkeep = .now + .seconds(30)
            }
            let isStopping = state.wait(atMost: .seconds(1)) { $0.isStopping ? true : nil }
            if isStopping == true { return }
        }
    }

    /// Reading a table is the question: a Galera node without its cluster accepts connections, and answers 1047 here.
    ///
    /// - Parameter isFirst: whether to look at the server key, too; it stays the same.
    private func check(_ database: Database, isFirst: Bool) -> DatabaseState {
        do {
            return try database.read { connection in
                if let problem = try SchemaCheck.problem(connection) { return .unfit(problem) }
                let foreign = isFirst ? try connection.foreignSeal(to: serverKey) : nil
                return foreign.map { .sealed($0.description) } ?? .fit
            }
        } catch TransactionFailure.unreachable(let error) {
            return .unreachable(error.message)
        } catch {
            return .unreachable("\(error)")
        }
    }

    private func upkeep(of database: Database) -> Upkeep? {
        do {
            return try database.read { try Upkeep($0, at: Clock.system.now, tombstoneGrace: tombstoneGrace) }
        } catch {
            logger.warning("what the jobs left undone cannot be told", metadata: ["error": "\(error)"])
            return nil
        }
    }

    private func log(_ state: DatabaseState) {
        switch state {
        case .unknown: break
        case .fit: logger.notice("database answers")
        case .unfit(let problem): logger.error("schema does not fit: \(problem)")
        case .sealed(let problem): logger.error("server key does not fit: \(problem)")
        case .unreachable(let reason):
            logger.warning("database unreachable, tried again every second", metadata: ["reason": "\(reason)"])
        }
    }
}

extension Readiness.Report {
    fileprivate mutating func add(_ check: String, _ problem: String) {
        missing.append(Missing(check: check, problem: problem))
    }
}
