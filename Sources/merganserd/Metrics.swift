import API
import Accounts
import AnalyticsJobs
import Database
import FastCGI
import IdentityTokens
import Mail
import Push
import Time

/// The numbers of this instance in Prometheus' text format.
struct Metrics: Sendable {
    let version: String
    let instance: String
    let threads: Int
    let requests: RequestMetrics
    let loadShedder: LoadShedder
    let database: DatabaseStatistics
    let delivery: DeliveryStatistics
    let keySets: IdentityTokenVerifier
    /// nil: no mail is sent.
    let mail: MailQueue?
    /// nil: no phone is notified.
    let push: PushQueue?
    let server: Server
    private let clock = Clock.system
    private let startedAt = Clock.system.now

    init(
        version: String, instance: String, threads: Int, requests: RequestMetrics, loadShedder: LoadShedder,
        database: DatabaseStatistics, delivery: DeliveryStatistics, keySets: IdentityTokenVerifier, mail: MailQueue?,
        push: PushQueue?, server: Server
    ) {
        self.version = version
        self.instance = instance
        self.threads = threads
        self.requests = requests
        self.loadShedder = loadShedder
        self.database = database
        self.delivery = delivery
        self.keySets = keySets
        self.mail = mail
        self.push = push
        self.server = server
    }

    /// - Parameters:
    ///   - upkeep: nil while the database does not answer.
    ///   - node: nil also if the database is no cluster.
    func text(isReady: Bool, _ upkeep: Upkeep?, _ node: ClusterNode?) -> String {
        var exposition = Exposition()
        addProcess(to: &exposition, isReady: isReady)
        addRequests(to: &exposition)
        addDatabase(to: &exposition)
        add(node, to: &exposition)
        addDelivery(to: &exposition)
        addKeySets(to: &exposition)
        addMail(to: &exposition)
        addPush(to: &exposition)
        if let upkeep { add(upkeep, to: &exposition) }
        return exposition.text
    }

    private func addProcess(to exposition: inout Exposition, isReady: Bool) {
        exposition.add(
            "merganser_build_info", .gauge, "The release, and the name of the instance.",
            [([("version", version), ("name", instance)], 1)])
        exposition.add(
            "process_start_time_seconds", .gauge, "When the process started.",
            Double(startedAt.milliseconds) / 1000)
        exposition.add(
            "merganser_uptime_seconds", .gauge, "How long the process has run.",
            (clock.now - startedAt) / .seconds(1))
        if let usage = ProcessUsage.current {
            exposition.add(
                "process_cpu_seconds_total", .counter, "Time on processors, in user and system mode.", usage.cpuSeconds)
            exposition.add(
                "process_resident_memory_bytes", .gauge, "Memory in use.", Double(usage.residentBytes))
            exposition.add("process_open_fds", .gauge, "Open file descriptors.", Double(usage.openDescriptors))
            exposition.add(
                "process_max_fds", .gauge, "The limit of open file descriptors (RLIMIT_NOFILE).",
                Double(usage.maximumDescriptors))
        }
        exposition.add("merganser_ready", .gauge, "1 while /readyz answers 200.", isReady ? 1 : 0)
        exposition.add("merganser_worker_threads", .gauge, "Workers that answer requests.", Double(threads))
    }

    private func addRequests(to exposition: inout Exposition) {
        let counts = requests.snapshot()
        let snapshot = counts.series.sorted {
            ($0.key.route, $0.key.method, $0.key.status) < ($1.key.route, $1.key.method, $1.key.status)
        }
        exposition.add(
            "merganser_requests_total", .counter, "Answered requests.",
            snapshot.map { key, series in
                (labels(key), Double(series.count))
            })
        exposition.add(
            "merganser_refusals_total", .counter, "Requests outside /v1 that were refused, by error code.",
            counts.refusals.sorted { ($0.key.route, $0.key.code) < ($1.key.route, $1.key.code) }.map { refusal, count in
                ([("route", refusal.route), ("code", refusal.code)], Double(count))
            })
        exposition.addHistogram(
            "merganser_request_duration_seconds", "Time from a complete request to its answer.",
            bounds: RequestMetrics.bounds,
            snapshot.map { key, series in
                (labels(key), series.buckets, series.seconds)
            })
        exposition.addHistogram(
            "merganser_request_wait_seconds", "Time between nginx passing a request on and a worker accepting it.",
            bounds: RequestMetrics.bounds, [([], counts.waits.buckets, counts.waits.seconds)])
        exposition.add(
            "merganser_requests_shed_total", .counter,
            "Requests answered 503 because they had waited too long for a worker.",
            Double(loadShedder.count))
        let statistics = server.statistics
        exposition.add(
            "merganser_requests_in_flight", .gauge, "Requests being answered.", Double(statistics.requestsInFlight))
        exposition.add(
            "merganser_connections_open", .gauge, "Connections from nginx.", Double(statistics.openConnections))
        exposition.add(
            "merganser_connections_aborted_total", .counter, "Connections that ended in the middle of a request.",
            Double(statistics.aborted))
    }

    private func labels(_ key: RequestMetrics.Key) -> Exposition.Labels {
        [("route", key.route), ("method", key.method), ("status", String(key.status))]
    }

    private func addDatabase(to exposition: inout Exposition) {
        exposition.add(
            "merganser_database_connections_open", .gauge,
            "Open connections to MariaDB: at most one for each worker, one for each dispatcher, one for readiness and "
                + "one for notifications.",
            Double(database.openConnections.value))
        for (name, help, count) in [
            ("transactions", "Transactions that were started.", database.transactions.value),
            ("retries", "Attempts after a transaction's first.", database.retries.value),
            ("deadlocks", "Attempts ended by a deadlock (1213).", database.deadlocks.value),
            ("lock_timeouts", "Attempts ended by a lock wait time-out (1205).", database.lockTimeouts.value),
            ("exhaustions", "Transactions given up after the last attempt.", database.exhaustions.value),
            ("unknown_outcomes", "Transactions whose COMMIT got no answer.", database.unknownOutcomes.value),
            ("reconnects", "Connections that were lost or given up.", database.reconnects.value),
            ("statements", "Statements that were answered or failed.", database.statements.value),
            ("slow_statements", "Statements that were logged as slow.", database.slowStatements.value),
        ] {
            exposition.add("merganser_database_\(name)_total", .counter, help, Double(count))
        }
        exposition.add(
            "merganser_database_statement_seconds_total", .counter, "Total time of all statements.",
            Double(database.statementMicroseconds.value) / 1e6)
    }

    private func add(_ node: ClusterNode?, to exposition: inout Exposition) {
        let labels = [("node", node?.name ?? "")]
        for (name, kind, help, value) in [
            ("nodes", .gauge, "Nodes of the database's cluster; 0 without a cluster.", Double(node?.size ?? 0)),
            ("synced", .gauge, "1 while the node can be written to.", node?.isSynced == true ? 1 : 0),
            (
                "paused_seconds_total", .counter, "Time in which commits waited for a slower node.",
                (node?.flowControl ?? .zero) / .seconds(1)
            ),
            (
                "conflicts_total", .counter,
                "Transactions of the node that were ended or refused because of another node's, by all its clients.",
                Double((node?.certificationFailures ?? 0) + (node?.aborts ?? 0))
            ),
        ] as [(String, Exposition.Kind, String, Double)] {
            exposition.add("merganser_database_cluster_\(name)", kind, help, [(labels, value)])
        }
    }

    private func addDelivery(to exposition: inout Exposition) {
        let snapshot = delivery.snapshot
        for (name, messages, beginning, counts) in [
            ("webhook", "Events", "an event or its replay", snapshot.webhooks),
            ("logout", "Logout tokens", "the end of a session", snapshot.logouts),
            ("apple_revocation", "Tokens that Apple is to revoke", "the end of an identity", snapshot.appleRevocations),
        ] {
            exposition.add(
                "merganser_\(name)_attempts_total", .counter, "\(messages): attempts to send one to its receiver.",
                DeliveryStatistics.Outcome.allCases.map { outcome in
                    ([("outcome", outcome.rawValue)], Double(counts.attempts[outcome] ?? 0))
                })
            exposition.add(
                "merganser_\(name)_dead_total", .counter, "\(messages) whose last attempt failed.",
                Double(counts.dead))
            exposition.addHistogram(
                "merganser_\(name)_delivery_seconds", "\(messages): time from \(beginning) to the delivery.",
                bounds: DeliveryStatistics.bounds, [([], counts.buckets, counts.seconds)])
        }
        exposition.add(
            "merganser_webhook_disabled_total", .counter,
            "Receivers that were disabled because they were gone or failed for days.",
            Double(snapshot.disabledEndpoints))
    }

    private func addKeySets(to exposition: inout Exposition) {
        let now = clock.now
        let sets = keySets.status.sorted { $0.key.rawValue < $1.key.rawValue }
            .map { (labels: [("provider", $0.key.rawValue)] as Exposition.Labels, status: $0.value) }
        exposition.add(
            "merganser_key_set_ready", .gauge, "1 while the provider's tokens can be checked.",
            sets.map { ($0.labels, $0.status.isReady ? 1 : 0) })
        exposition.add(
            "merganser_key_set_age_seconds", .gauge, "Time since the key set in use was fetched.",
            sets.compactMap { set in set.status.fetchedAt.map { (set.labels, (now - $0) / .seconds(1)) } })
        exposition.add(
            "merganser_key_set_keys", .gauge, "Keys in the set in use.",
            sets.map { ($0.labels, Double($0.status.keyCount)) })
        exposition.add(
            "merganser_key_set_fetches_total", .counter, "Attempts to fetch the key set.",
            sets.map { ($0.labels, Double($0.status.fetches)) })
        exposition.add(
            "merganser_key_set_failures_total", .counter, "Attempts to fetch the key set that failed.",
            sets.map { ($0.labels, Double($0.status.failures)) })
    }

    private func addMail(to exposition: inout Exposition) {
        exposition.add(
            "merganser_mails_total", .counter, "Messages by what became of them.",
            (mail?.counts ?? []).map { ([("outcome", $0.outcome.rawValue)], Double($0.count)) })
        exposition.add(
            "merganser_mails_waiting", .gauge, "Messages that wait for the mail server.",
            (mail.map { [([], Double($0.waiting))] }) ?? [])
    }

    private func addPush(to exposition: inout Exposition) {
        exposition.add(
            "merganser_notifications_total", .counter, "Notifications to phones by what became of them.",
            (push?.counts ?? []).map { ([("outcome", $0.outcome.rawValue)], Double($0.count)) })
        exposition.add(
            "merganser_notifications_waiting", .gauge, "Notifications that wait for the push service.",
            (push.map { [([], Double($0.waiting))] }) ?? [])
    }

    private func add(_ upkeep: Upkeep, to exposition: inout Exposition) {
        exposition.add(
            "merganser_upkeep_delay_seconds", .gauge, "For how long the oldest unfinished work of a job has been due.",
            upkeep.delays.map { ([("task", $0.task)], $0.delay / .seconds(1)) })
        exposition.add(
            "merganser_webhook_breakers_open", .gauge,
            "Receivers that failed so often that they are only probed once a minute.",
            Double(upkeep.accounts.openBreakers))
        exposition.add(
            "merganser_webhook_endpoints_disabled", .gauge, "Receivers that nothing is sent to until they are enabled.",
            Double(upkeep.accounts.disabledEndpoints))
        exposition.add(
            "merganser_apple_revocation_age_seconds", .gauge,
            "For how long the oldest token that Apple is to revoke has waited.",
            upkeep.accounts.revocationDelay / .seconds(1))
        exposition.add(
            "merganser_event_partitions_ahead_seconds", .gauge,
            "Time until the last monthly partition for events ends.",
            upkeep.analytics.partitionsAhead / .seconds(1))
        exposition.add(
            "merganser_signing_key_age_seconds", .gauge, "Time since the key that signs tokens was activated.",
            upkeep.accounts.signingKeyAge.map { [([], $0 / .seconds(1))] } ?? [])
    }
}
