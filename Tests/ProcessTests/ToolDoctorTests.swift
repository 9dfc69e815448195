import Database
import FastCGI
import Foundation
import JSON
import MariaDB
import TestSupport
import Testing
import Threads

@testable import Accounts

@Suite struct ToolDoctorTests {
    @Test func findsASoundInstallationHealthy() throws {
        let installation = try Installation()
        try installation.database.connect().executeScript(
            """
            CREATE OR REPLACE USER '\(installation.database.name)'@localhost IDENTIFIED BY 'pass word';
            GRANT SELECT, INSERT, UPDATE, DELETE ON \(installation.database.name).* TO '\(installation.database.name)'@localhost
            """)
        #expect(try installation.tool("signing-key", "generate").exit == .status(0))
        #expect(try installation.tool("signing-key", "activate").exit == .status(0))
        let variables = [
            "MERGANSER_DATABASE_USER": installation.database.name, "MERGANSER_DATABASE_PASSWORD": "pass word",
        ]
        let outcome = try installation.tool("doctor", "--json", setting: variables)
        let findings = try Findings(outcome)
        #expect(outcome.exit == .status(0), "\(outcome)")
        #expect(try outcome.json()["healthy"] == true)
        #expect(findings["fail"].isEmpty)
        #expect(findings.mend("binary log")?.contains("log_bin = binlog") == true)
        #expect(
            findings["ok"].isSuperset(of: [
                "database", "version", "schema", "grants", "session", "collation", "clock", "durability", "connections",
                "prepared statements", "wait_timeout", "server key", "signing key", "socket", "control socket", "state",
                "attachments", "key set",
            ]))
        #expect(!outcome.output.contains("pass word"))

        let words = try installation.tool("doctor", setting: variables)
        #expect(words.exit == .status(0))
        #expect(words.output.contains("ok    schema           at "))
        try installation.database.connect().executeScript("DROP USER '\(installation.database.name)'@localhost")
    }

    @Test func namesWhatIsWrongWithTheDatabase() throws {
        let server = try MariaDBServer(options: [
            "--log-bin", "--server-id=1", "--sync-binlog=0", "--innodb-flush-log-at-trx-commit=2", "--sql-mode=",
            "--default-time-zone=+09:00", "--max-connections=20", "--max-prepared-stmt-count=1000",
            "--wait-timeout=10",
        ])
        let database = try TestDatabase(on: server, migrated: false)
        let installation = try Installation(database: database)
        try database.connect().executeScript(
            """
            ALTER DATABASE \(database.name) CHARACTER SET latin1; CREATE TABLE old (id INT) CHARACTER SET latin1;
            CREATE USER poor@localhost; GRANT SELECT, INSERT ON \(database.name).* TO poor@localhost
            """)
        let outcome = try installation.tool(
            "doctor", "--json", setting: ["MERGANSER_DATABASE_USER": "poor", "MERGANSER_THREADS": "8"])
        #expect(outcome.exit == .status(1))
        #expect(try outcome.json()["healthy"] == false)
        let findings = try Findings(outcome)
        #expect(
            findings["fail"] == ["schema", "grants", "collation", "durability", "binary log", "connections"],
            "\(outcome.output)")
        #expect(findings["warn"] == ["sql_mode", "time_zone", "triggers", "prepared statements", "wait_timeout"])
        #expect(findings.mend("schema") == "merganserctl migrate up")
        #expect(
            findings.mend("grants")?.hasPrefix("GRANT SELECT, INSERT, UPDATE, DELETE ON \(database.name).*") == true)
        #expect(findings.mend("durability")?.contains("innodb_flush_log_at_trx_commit = 1") == true)
        #expect(findings.mend("binary log")?.contains("sync_binlog = 1") == true)
        #expect(findings.mend("triggers")?.contains("log_bin_trust_function_creators = 1") == true)
        #expect(findings.mend("connections")?.contains("MERGANSER_THREADS, which is 8") == true)
    }

    @Test func knowsTheNodesOfACluster() throws {
        let options = [
            "--wsrep-on=ON", "--wsrep-provider=/usr/lib/galera/libgalera_smm.so", "--wsrep-cluster-address=gcomm://",
            "--wsrep-node-name=db1", "--wsrep-node-address=127.0.0.1", "--binlog-format=ROW",
        ]
        func findings(_ more: [String], provider: String = "") throws -> Findings {
            let (server, _) = try onFreePort { port in
                let galera = "gmcast.listen_addr=tcp://127.0.0.1:\(port); \(provider)"
                return try MariaDBServer(options: options + ["--wsrep-provider-options=\(galera)"] + more)
            }
            let installation = try Installation(database: TestDatabase(on: server, migrated: true))
            return try Findings(installation.tool("doctor", "--json"))
        }
        let sound = try findings(
            ["--innodb-autoinc-lock-mode=2"], provider: "evs.suspect_timeout=PT3S; repl.causal_read_timeout=PT5S")
        #expect(
            sound["ok"].isSuperset(of: [
                "node", "flow control", "conflicts", "stall", "limits", "sync_wait", "replication", "filters",
            ]))
        #expect(sound["warn"].contains("cluster"), "a single node is no cluster")
        let patient = try findings(["--innodb-autoinc-lock-mode=2"])
        #expect(patient.mend("sync_wait")?.hasPrefix("set repl.causal_read_timeout ") == true)
        let unsound = try findings(
            [
                "--innodb-autoinc-lock-mode=1", "--wsrep-sync-wait=1", "--wsrep-max-ws-size=1000000",
                "--replicate-do-db=other", "--wsrep-auto-increment-control=OFF",
            ], provider: "evs.suspect_timeout=PT8S; evs.inactive_timeout=PT20S")
        #expect(unsound["fail"].isSuperset(of: ["limits", "replication", "filters"]))
        #expect(unsound["warn"].isSuperset(of: ["cluster", "stall", "sync_wait"]))
        #expect(
            unsound.mend("replication")?.hasPrefix("innodb_autoinc_lock_mode = 2, wsrep_auto_increment_control = ON ")
                == true)
    }

    @Test func saysWhatHAProxyWritesTo() throws {
        let installation = try Installation()
        func findings(_ servers: String) throws -> Findings {
            let haproxy = try HAProxy(servers)
            return try Findings(installation.tool("doctor", "--json", "--haproxy-socket", haproxy.socket))
        }
        let healthy = try findings("    server db1 127.0.0.1:1\n    server db2 127.0.0.1:1 backup")
        #expect(healthy["ok"].contains("haproxy"))
        let degraded = try findings("    server db1 127.0.0.1:1 disabled\n    server db2 127.0.0.1:1 backup")
        #expect(degraded["warn"].contains("haproxy"))
        let dead = try findings("    server db1 127.0.0.1:1 disabled\n    server db2 127.0.0.1:1 backup disabled")
        #expect(dead["fail"].contains("haproxy"))
        let folder = try TemporaryDirectory()
        let absent = try Findings(installation.tool("doctor", "--json", "--haproxy-socket", folder.file("nobody")))
        #expect(!absent["ok"].contains("haproxy") && !absent["fail"].contains("haproxy"))
    }

    /// Without `on-marked-up shutdown-backup-sessions`, a connection outlives the time in which its node was needed.
    @Test func namesNodesWhereHAProxyLeavesConnections() throws {
        let installation = try Installation()
        let folder = try TemporaryDirectory()
        let node = try Listener(folder.file("node.sock"))
        let haproxy = try HAProxy(
            "    server db1 127.0.0.1:1 disabled\n    server db2 unix@\(folder.file("node.sock")) backup")
        let connection = try HTTPConnection(port: haproxy.port)
        defer { withExtendedLifetime((node, connection)) {} }
        func message() throws -> String? {
            try Findings(installation.tool("doctor", "--json", "--haproxy-socket", haproxy.socket)).message("haproxy")
        }
        #expect(try message()?.hasPrefix("writes to db2; 1 of 2 nodes are up") == true)
        try haproxy.tell("enable server merganser_database/db1")
        #expect(try message() == "writes to db1; 2 of 2 nodes are up; but connections stay at db2")
    }

    @Test func waitsTwoSecondsForHAProxy() throws {
        let installation = try Installation()
        let folder = try TemporaryDirectory()
        let listener = try Listener(folder.file("silent.sock"))
        defer { withExtendedLifetime(listener) {} }
        let findings = try Findings(
            installation.tool("doctor", "--json", "--haproxy-socket", folder.file("silent.sock")))
        #expect(findings["fail"].contains("haproxy"))
        #expect(findings.message("haproxy")?.hasPrefix("does not answer at ") == true)
    }

    @Test func namesWhatIsWrongWithTheKeys() throws {
        let installation = try Installation()
        let none = try Findings(installation.tool("doctor", "--json"))
        #expect(none["fail"] == ["signing key"])
        #expect(none.mend("signing key")?.contains("merganserctl signing-key generate") == true)

        #expect(try installation.tool("signing-key", "generate").exit == .status(0))
        #expect(try installation.tool("signing-key", "activate").exit == .status(0))
        let next = try installation.tool("signing-key", "generate", "--json").json()["kid"]?.string
        try installation.database.connect().execute(
            "UPDATE signing_keys SET published_at = NOW() - INTERVAL 31 DAY WHERE activated_at IS NULL")
        let waiting = try Findings(installation.tool("doctor", "--json"))
        #expect(waiting["fail"].isEmpty)
        #expect(waiting["warn"].contains("signing key"))
        #expect(waiting.mends.contains("merganserctl signing-key activate \(next ?? "")"))

        let other = String(repeating: "d5", count: 32)
        let wrong = try Findings(installation.tool("doctor", "--json", setting: ["MERGANSER_SERVER_KEY": other]))
        #expect(wrong["fail"] == ["server key", "signing key"])
        #expect(wrong.mend("server key")?.contains("MERGANSER_SERVER_KEY_PREVIOUS") == true)

        let old = installation.environment["MERGANSER_SERVER_KEY"] ?? ""
        let between = try Findings(
            installation.tool(
                "doctor", "--json",
                setting: ["MERGANSER_SERVER_KEY": other, "MERGANSER_SERVER_KEY_PREVIOUS": old]))
        #expect(between["fail"].isEmpty)
        #expect(between.mend("server key")?.hasPrefix("merganserctl server-key rotate") == true)
    }

    /// The doctor says what is missing before the previous key goes.
    @Test func countsTokensOfApple() throws {
        let installation = try Installation()
        let handle = [UInt8](repeating: 7, count: 16)
        let key = ServerKey(current: [UInt8](repeating: 0xC4, count: 32))
        try installation.database.connect().execute(
            "INSERT INTO apple_revocations (client_id, token_handle, token, next_attempt_at) VALUES ('c', ?, ?, NOW(3))",
            handle, key.seal([7], for: SealedAppleGrant.row(handle)))
        let other = String(repeating: "d5", count: 32)
        let old = installation.environment["MERGANSER_SERVER_KEY"] ?? ""
        let between = try Findings(
            installation.tool(
                "doctor", "--json",
                setting: ["MERGANSER_SERVER_KEY": other, "MERGANSER_SERVER_KEY_PREVIOUS": old]))
        #expect(between.mend("server key")?.hasPrefix("merganserctl server-key rotate") == true)
        let wrong = try Findings(installation.tool("doctor", "--json", setting: ["MERGANSER_SERVER_KEY": other]))
        #expect(wrong["fail"].contains("server key"))
        #expect(
            wrong.message("server key")
                == "a value of apple_revocations.token was sealed under another server key")
    }

    @Test func namesWhatIsWrongWithTheMachine() throws {
        let installation = try Installation()
        let open = installation.directory.file("open")
        try FileManager.default.createDirectory(atPath: open, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: open)
        let outcome = try installation.tool(
            "doctor", "--json",
            setting: [
                "MERGANSER_DATABASE_SOCKET": "/nowhere/mariadb.sock", "MERGANSER_SOCKET": "\(open)/fastcgi.sock",
                "MERGANSER_CONTROL_SOCKET": "/nowhere/control.sock", "MERGANSER_STATE_DIRECTORY": open,
                "MERGANSER_APPLE_JWKS_URL": "http://127.0.0.1:1/keys", "MERGANSER_ISUER": "x",
            ])
        #expect(outcome.exit == .status(1))
        let findings = try Findings(outcome)
        #expect(findings["fail"] == ["database", "socket", "control socket", "state", "key set"])
        #expect(findings["warn"] == ["environment"])
        #expect(findings.mend("socket") == "chmod o-w \(open)")
        #expect(findings.mend("control socket") == "install -d -m 0755 -o USER /nowhere")
        #expect(findings.mend("state") == "chmod go-w \(open)")
        #expect(findings.mend("key set")?.contains("MERGANSER_APPLE_JWKS_URL") == true)
    }

    @Test func namesWhatStandsInTheWay() throws {
        let installation = try Installation()
        try installation.directory.write("", to: "fastcgi.sock")
        try installation.directory.write("", to: "attachments")
        let findings = try Findings(installation.tool("doctor", "--json"))
        #expect(findings["fail"] == ["signing key", "socket", "attachments"])
        #expect(findings.mend("socket") == "remove it")
        #expect(
            findings.mend("attachments") == "install -d -m 0700 -o USER \(installation.directory.file("attachments"))")
    }

    /// The findings of one run by status.
    /// HAProxy with the shipped proxy's name, and nodes of which nobody knows that they only answer health checks.
    private struct HAProxy {
        let port: UInt16
        let socket: String
        private let folder: TemporaryDirectory
        private let process: ChildProcess

        /// - Parameter servers: the lines of the nodes.
        init(_ servers: String) throws {
            let folder = try TemporaryDirectory()
            let socket = folder.file("admin.sock")
            let (process, port) = try onFreePort { port in
                try folder.write(
                    """
                    global
                        stats socket \(socket) level admin
                    defaults
                        mode tcp
                        timeout connect 1s
                        timeout client 1m
                        timeout server 1m
                    listen merganser_database
                        bind 127.0.0.1:\(port)
                    \(servers)

                    """, to: "haproxy.cfg")
                let process = try ChildProcess(
                    "/usr/sbin/haproxy", ["-db", "-f", folder.file("haproxy.cfg")], deathSignal: SIGTERM)
                try process.wait(for: "its stats socket") { connectToUnixSocket(socket).map { close($0) } != nil }
                return process
            }
            (self.folder, self.socket, self.process, self.port) = (folder, socket, process, port)
        }

        func tell(_ command: String) throws {
            let descriptor = try #require(connectToUnixSocket(socket))
            defer { close(descriptor) }
            let line = Array("\(command)\n".utf8)
            #expect(send(descriptor, line, line.count, 0) == line.count)
            // Its answer comes when it is done.
            var byte: UInt8 = 0
            #expect(recv(descriptor, &byte, 1, 0) >= 0)
        }
    }

    private struct Findings {
        private let findings: [JSONValue]

        init(_ outcome: ChildProcess.Outcome) throws {
            findings = try #require(try outcome.json()["findings"]?.array)
        }

        subscript(status: String) -> Set<String> {
            Set(findings.filter { $0["status"]?.string == status }.compactMap { $0["check"]?.string })
        }

        var mends: [String] { findings.compactMap { $0["mend"]?.string } }

        func mend(_ check: String) -> String? { self[check, "mend"] }
        func message(_ check: String) -> String? { self[check, "message"] }

        private subscript(check: String, member: String) -> String? {
            findings.first { $0["check"]?.string == check }?[member]?.string
        }
    }
}

extension ToolDoctorTests {
    /// Two nodes that both are written to, and one that cannot keep up. `scripts/test --cluster` runs them.
    @Suite(.enabled(if: !MariaDBServer.otherNodes.isEmpty)) struct ClusterTests {
        private let installation: Installation
        private let node: Connection
        private let other: Connection

        init() throws {
            installation = try Installation()
            node = try installation.database.connect()
            try node.executeScript(
                "CREATE TABLE contended (id INT PRIMARY KEY, n INT); INSERT INTO contended VALUES (1, 0)")
            try installation.database.settle()
            other = try Connection(installation.database.options(ofNode: 1))
        }

        private func findings() throws -> Findings { try Findings(installation.tool("doctor", "--json")) }

        @Test func warnsOfConflicts() throws {
            func clusterNode() throws -> ClusterNode { try #require(try node.clusterNode()) }
            // Well above the one per cent that doctor warns of.
            while case let now = try clusterNode(), (now.certificationFailures + now.aborts) * 20 <= now.commits {
                try node.executeScript("START TRANSACTION; UPDATE contended SET n = n + 1")
                try other.executeScript("UPDATE contended SET n = n + 1")
                try installation.database.settle()
                #expect(throws: MariaDBError.self) { try node.executeScript("COMMIT") }
            }
            #expect(try findings()["warn"].contains("conflicts"))
        }

        @Test func warnsOfFlowControl() throws {
            let database = installation.database
            try node.executeScript("FLUSH STATUS")
            try other.executeScript("LOCK TABLES contended READ")
            let thread = Threads.Thread {
                let writer = try? database.connect()
                for _ in 0..<100 { try? writer?.executeScript("UPDATE contended SET n = n + 1") }
            }
            // The share grows with the time that the writer has waited.
            let deadline = ContinuousClock.now + .seconds(60)
            while try #require(try node.clusterNode()).pausedShare < 0.5 {
                try #require(ContinuousClock.now < deadline)
                usleep(1000)
            }
            #expect(try findings()["warn"].contains("flow control"))
            try other.executeScript("UNLOCK TABLES")
            thread.join()
        }
    }
}
