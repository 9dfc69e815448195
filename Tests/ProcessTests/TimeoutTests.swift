import Accounts
import Analytics
import Configuration
import Database
import FastCGI
import Fetch
import Foundation
import IdentityTokens
import Mail
import MariaDB
import Migrations
import Push
import TestSupport
import Testing

@testable import merganserd

/// Each part waits longer than the part behind it, so that the one that knows most about a failure gives up first and
/// can report it.
@Suite struct TimeoutTests {
    @Test func docsHaveThemAll() throws {
        let document = try String(contentsOfFile: Repository.root + "/docs/operations.md", encoding: .utf8)
        let section = try #require(document.components(separatedBy: "\n## ").first { $0.hasPrefix("Timeouts\n") })
        let rows = section.matches(of: /\n\| ([^|]+) \| (\d+) s \|/)
        let documented = Dictionary(uniqueKeysWithValues: rows.map { (String($0.1), Duration.seconds(Int($0.2) ?? 0)) })
        #expect(documented == (try timeouts()))
    }

    @Test(
        arguments: [
            // The database answers before its client gives up, and the client before the request does.
            (["lock wait"], "statement"),
            (["statement"], "database answer"),
            (["count of events"], "statement"),
            (["catching up"], "statement"),
            // After a request has caught up twice, its transaction still begins within the time of the repeats.
            (["catching up", "catching up"], "repeats of a transaction"),
            (["catching up", "repeats of a transaction", "database answer"], "`fastcgi_read_timeout`, uploads"),
            (["database connection"], "MariaDB's `connect_timeout`"),
            (["lock wait"], "repeats of a transaction"),
            (["database answer"], "repeats of a transaction"),
            (["key set"], "key set fetch"),
            (["signing keys"], "idle transaction"),
            (["repeats of a transaction"], "idle transaction"),
            // The server answers before nginx gives up.
            (
                ["queue", "key set", "Apple's code", "repeats of a transaction", "database answer"],
                "`fastcgi_read_timeout`"
            ),
            (["idle transaction"], "`fastcgi_read_timeout`"),
            (["queue", "export", "database answer"], "`fastcgi_read_timeout`"),
            (["queue", "ad network", "repeats of a transaction", "database answer"], "`fastcgi_read_timeout`, `/v1`"),
            (["repeats of a transaction", "database answer"], "`fastcgi_read_timeout`, uploads"),
            // Of two that pass bytes on, the one beside the client gives up first.
            (["`client_body_timeout`, uploads"], "upload's patience"),
            (["request's bytes"], "`fastcgi_send_timeout`, uploads"),
            (["`send_timeout`"], "answer's bytes"),
            (["queue"], "`fastcgi_send_timeout`"),
            // Whoever waits behind a migration that waits for a table is served.
            (["table lock"], "queue"),
            // A request that nginx waits for is answered before its instance is killed, or taken for stuck.
            (["`fastcgi_read_timeout`"], "`fastcgi_read_timeout`, `/v1`"),
            (["upstream `keepalive_time`", "upstream `keepalive_timeout`"], "drain"),
            (["mail connection"], "mail"),
            (["mail"], "drain"),
            (["notification's connection"], "notification"),
            (["notification"], "drain"),
            (["drain", "`fastcgi_read_timeout`, `/v1`"], "systemd's `TimeoutStopSec`"),
            (["`fastcgi_read_timeout`, `/v1`"], "stuck workers"),
            // An outcome is recorded before anybody else sends the event.
            (["webhook's connection"], "webhook"),
            (["webhook", "repeats of a transaction", "database answer"], "webhook's lease"),
            (["webhook", "repeats of a transaction", "database answer"], "systemd's `TimeoutStopSec`"),
            // A connection outlives the pauses between its requests.
            (["stuck workers"], "MariaDB's `wait_timeout`"),
        ] as [([String], String)])
    func whoWaitsForAnotherWaitsLonger(inner: [String], outer: String) throws {
        let timeouts = try timeouts()
        let sum = try inner.reduce(Duration.zero) { $0 + (try #require(timeouts[$1], "\($1)")) }
        #expect(sum < (try #require(timeouts[outer], "\(outer)")))
    }

    /// A Galera cluster takes 7 s to drop a dead node.
    @Test func theDatabaseIsWaitedForWhileAClusterMendsItself() throws {
        #expect(try #require(timeouts()["database answer"]) > .seconds(7))
        #expect(try #require(timeouts()["statement"]) > .seconds(7))
    }

    private func timeouts() throws -> [String: Duration] {
        let clients = try Settings("nginx/merganser/clients.conf")
        let fastcgi = try Settings("nginx/merganser/fastcgi.conf")
        let upload = try Settings("nginx/merganser/upload.conf")
        let keepalive = try Settings("nginx/merganser/keepalive.conf")
        let unit = try Settings("systemd/merganser@.service")
        let connection = Connection.Options(address: .unixSocket("/"), user: "")
        let server = Server.Options(threads: 1)
        let keySets = KeySetLimits()
        let mail = SMTPServer(.startTLS, host: "", port: 0)
        let webhook = Dispatcher.Options(isDevelopment: false).transfer
        let db = try Connection(MariaDBServer.options(socket: MariaDBServer.sharedSocket))
        let globals = try db.query("SELECT @@global.connect_timeout, @@global.wait_timeout")[0].map {
            Duration.seconds(Int(String(decoding: $0 ?? [], as: UTF8.self)) ?? 0)
        }
        #expect(Accounts.retryPolicy.patience == RetryPolicy.standard.patience)
        #expect(Analytics.retryPolicy.patience == RetryPolicy.standard.patience)
        #expect(connection.writeTimeout == connection.readTimeout)
        return [
            "`client_header_timeout`": try clients["client_header_timeout"],
            "`client_body_timeout`": try clients["client_body_timeout"],
            "`client_body_timeout`, uploads": try upload["client_body_timeout"],
            "`send_timeout`": try clients["send_timeout"],
            "`keepalive_timeout`": try clients["keepalive_timeout"],
            "`fastcgi_connect_timeout`": try fastcgi["fastcgi_connect_timeout"],
            "`fastcgi_send_timeout`": try fastcgi["fastcgi_send_timeout"],
            "`fastcgi_send_timeout`, uploads": try upload["fastcgi_send_timeout"],
            "`fastcgi_read_timeout`": try fastcgi["fastcgi_read_timeout"],
            "`fastcgi_read_timeout`, `/v1`": try Settings("nginx/merganser/server.conf")["fastcgi_read_timeout"],
            "`fastcgi_read_timeout`, uploads": try upload["fastcgi_read_timeout"],
            "upstream `keepalive_timeout`": try keepalive["keepalive_timeout"],
            "upstream `keepalive_time`": try keepalive["keepalive_time"],
            "request's bytes": server.receiveTimeout,
            "answer's bytes": server.sendTimeout,
            "key set": keySets.patience,
            "key set fetch": keySets.fetchTimeout,
            "signing keys": SigningKeyring.patience,
            "Apple's code": AppleClientSettings.defaultTimeout,
            "ad network": AnalyticsSettings.defaultAttributionTimeout,
            "mail connection": mail.connectTimeout,
            "mail": mail.timeout,
            "notification's connection": APNsSettings.connectTimeout,
            "notification": APNsSettings.timeout,
            "repeats of a transaction": RetryPolicy.standard.patience,
            "database connection": connection.connectTimeout,
            "database answer": connection.readTimeout,
            "statement": connection.maxStatementTime,
            "export": ExportBound.standard.time,
            "count of events": try statementTime(in: "Sources/Analytics/Events/ReadEvents+Store.swift"),
            "catching up": try galeraTime("repl.causal_read_timeout"),
            "lock wait": connection.lockWaitTimeout,
            "table lock": connection.forMigrations.lockWaitTimeout,
            "idle transaction": connection.idleTransactionTimeout,
            "MariaDB's `connect_timeout`": globals[0],
            "MariaDB's `wait_timeout`": globals[1],
            "queue": try preset("MERGANSER_QUEUE_LIMIT_MILLISECONDS") / 1000,
            "upload's patience": try preset("MERGANSER_UPLOAD_PATIENCE_SECONDS"),
            "drain": try preset("MERGANSER_DRAIN_LIMIT_SECONDS"),
            "webhook": webhook.timeout,
            "webhook's connection": webhook.connectTimeout,
            "webhook's lease": AccountsTransaction.deliveryLease,
            "stuck workers": WorkerProgress.patience,
            "systemd's `TimeoutStopSec`": try unit["TimeoutStopSec"],
            "systemd's `WatchdogSec`": try unit["WatchdogSec"],
        ]
    }

    /// The limit of the only statement in a file that has its own.
    private func statementTime(in path: String) throws -> Duration {
        let text = try String(contentsOfFile: Repository.root + "/" + path, encoding: .utf8)
        let values = text.matches(of: /SET STATEMENT max_statement_time = (\d+) FOR/)
        try #require(values.count == 1)
        return .seconds(try #require(Int(values[0].1)))
    }

    /// A time among the provider's options that the package ships.
    private func galeraTime(_ option: String) throws -> Duration {
        let text = try String(contentsOfFile: Repository.root + "/packaging/cluster/galera.cnf", encoding: .utf8)
        let value = try #require(
            text.firstMatch(of: try Regex("\\b\(option)=PT(\\d+)S", as: (Substring, Substring).self)))
        return .seconds(try #require(Int(value.1)))
    }

    /// A variable's default, read as seconds.
    private func preset(_ name: String) throws -> Duration {
        let variable = try #require(Variable.all.first { $0.name == name })
        guard case .text(let text) = variable.preset, let number = Int(text) else {
            throw TestSupportError("\(name) has no default")
        }
        return .seconds(number)
    }

    /// Seconds by name, of a file where each has one.
    private struct Settings {
        private let path: String
        private let text: String

        init(_ path: String) throws {
            self.path = path
            text = try String(contentsOfFile: Repository.root + "/" + path, encoding: .utf8)
        }

        subscript(name: String) -> Duration {
            get throws {
                let values = text.matches(
                    of: try Regex("(?m)^\\s*\(name)[ =](\\d+)(?:s;)?$", as: (Substring, Substring).self))
                try #require(values.count == 1, "\(path): \(name)")
                return .seconds(try #require(Int(values[0].1)))
            }
        }
    }
}
