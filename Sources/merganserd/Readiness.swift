import Accounts
import Database
import IdentityTokens
import Logging
import MariaDB
import Migrations
import Threads
import Time

/// Whether this instance can answer requests. A thread of its own checks this once a second.
///
/// So reading the report costs nothing and never waits, even while the database hangs.
final class Readiness: Sendable {
    struct Report: Sendable {
        struct Missing: Encodable, Sendable {
            /// `database`, `schema`, `server_key`, `socket` or `draining`; `key_set_apple` or `key_set_google`.
            let check: String
            let problem: String
        }

        /// Missing things that this instance cannot serve without.
        fileprivate(set) var missing: [Missing] = []
        /// Missing things that it can serve without, except for the tokens of one provider.
        fileprivate(set) var degraded: [Missing] = []
        /// A problem that waiting does not change, in words for the operator.
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
        var node: ClusterNode?
        var isStopping = false
        var thread: Thread?
    }

    private let state = Monitor(State())
    private let keySets: IdentityTokenVerifier
    private let serverKey: ServerKey
    private let logger: Logger
    private let makeDatabase: @Sendable () -> Database
    private let tombstoneGrace: Duration
    private let undoWindow: Duration?
    private let anonymousInactivity: Duration?

    init(
        _ makeDatabase: @escaping @Sendable () -> Database, _ keySets: IdentityTokenVerifier, _ serverKey: ServerKey,
        tombstoneGrace: Duration, undoWindow: Duration?, anonymousInactivity: Duration?, _ logger: Logger
    ) {
        self.makeDatabase = makeDatabase
        self.keySets = keySets
        self.serverKey = serverKey
        self.tombstoneGrace = tombstoneGrace
        self.undoWindow = undoWindow
        self.anonymousInactivity = anonymousInactivity
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

    /// Call this when this instance has taken over nginx's socket. It is not ready before, because whoever waits for
    /// readiness stops the previous instance next.
    func beginServing() { state.withLock { $0.phase = .serving } }

    /// From now on the instance is not ready, so that no new requests are sent to it.
    func beginDraining() { state.withLock { $0.phase = .draining } }

    var report: Report {
        var report = requirements
        switch state.withLock({ $0.phase }) {
        case .starting where report.isReady: report.add("socket", "this instance is not serving yet")
        case .starting, .serving: break
        case .draining: report.add("draining", "this instance is about to exit")
        }
        return report
    }

    /// The conditions that must hold before this instance can serve.
    var requirements: Report {
        let (database, age) = state.withLock { ($0.database, ContinuousClock.now - $0.checkedAt) }
        var report = Report()
        switch database {
        // This is longer than every time-out of a connection, so something else is wrong.
        case _ where age > .seconds(30): report.add("database", "no answer for \(age.components.seconds) s")
        case .unknown: report.add("database", "not checked yet")
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

    /// Unfinished work of the jobs, at most half a minute old; nil while the database does not answer.
    var upkeep: Upkeep? { state.withLock(\.upkeep) }

    /// The node of a cluster that answered half a minute ago or later; nil without a cluster.
    var node: ClusterNode? { state.withLock(\.node) }

    /// Waits until a check has decided whether this instance can serve: it can, or waiting does not change that it cannot.
    func waitForDecision(atMost time: Duration) {
        _ = state.wait(atMost: time) { state in
            switch state.database {
            case .fit, .unfit, .sealed: ()
            case .unknown, .unreachable: nil
            }
        }
    }

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
                    "key set cannot be fetched; trying again",
                    metadata: ["provider": "\(provider.rawValue)", "reason": "\(failure)"])
            }
            previousFailures = failures
            state.change { state in
                state.database = found
                state.checkedAt = .now
            }
            if found != .fit {
                // A node without its cluster says so, although it reads no table.
                let node = try? database.read { try $0.clusterNode() }
                state.withLock { ($0.upkeep, $0.node) = (nil, node) }
                nextUpkeep = .now
            } else if ContinuousClock.now >= nextUpkeep {
                let (upkeep, node) = (upkeep(of: database), node(of: database))
                state.withLock { ($0.upkeep, $0.node) = (upkeep, node) }
                nextUpkeep = .now + .seconds(30)
            }
            let isStopping = state.wait(atMost: .seconds(1)) { $0.isStopping ? true : nil }
            if isStopping == true { return }
        }
    }

    /// Reads a table, because a Galera node without its cluster accepts connections, but answers reads with error 1047.
    ///
    /// - Parameter isFirst: whether to check the server key, too; later it cannot have changed.
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
            return try database.read {
                try Upkeep(
                    $0, at: Clock.system.now, tombstoneGrace: tombstoneGrace, undoWindow: undoWindow,
                    anonymousInactivity: anonymousInactivity)
            }
        } catch {
            logger.warning("the jobs' backlog cannot be read", metadata: ["error": "\(error)"])
            return nil
        }
    }

    private func node(of database: Database) -> ClusterNode? {
        do { return try database.read { try $0.clusterNode() } } catch {
            logger.warning("the cluster's state cannot be read", metadata: ["error": "\(error)"])
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
            logger.warning("database unreachable; trying again every second", metadata: ["reason": "\(reason)"])
        }
    }
}

extension Readiness.Report {
    fileprivate mutating func add(_ check: String, _ problem: String) {
        missing.append(Missing(check: check, problem: problem))
    }
}
