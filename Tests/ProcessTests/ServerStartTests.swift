import Foundation
import JSON
import MariaDB
import TestSupport
import Testing

/// Faults that keep a server from starting, and its messages.
@Suite struct ServerStartTests {
    @Test func helpIsTheReference() throws {
        let outcome = try ChildProcess.run(Repository.program("merganserd"), ["--help"])
        #expect(outcome.exit == .status(0))
        #expect(outcome.output.contains("  MERGANSER_SERVER_KEY[_FILE]  (32 bytes, hex or base64; required)\n"))
        #expect(outcome.output.contains("Exit status: "))
        #expect(outcome.output.split(separator: "\n").allSatisfy { $0.count <= 120 })
    }

    @Test(arguments: [["--verbose"], ["--check", "--check"], ["serve"]])
    func refusesArgumentsItDoesNotKnow(_ arguments: [String]) throws {
        let outcome = try ChildProcess.run(Repository.program("merganserd"), arguments)
        #expect(outcome.exit == .status(64))
        #expect(outcome.errorOutput.contains("merganserd --help"))
    }

    @Test func checksTheConfigurationAlone() throws {
        let sound = try Installation(migrated: false).server(["--check"])
        #expect(try sound.waitForExit() == .status(0))
        #expect(sound.output == "The configuration is complete and consistent.\n")
        #expect(sound.errorOutput.isEmpty)

        let unsound = try Installation(["MERGANSER_ISSUER": "", "MERGANSER_THREADS": "0", "MERGANSER_THREDS": "1"])
            .server(["--check"])
        #expect(try unsound.waitForExit() == .status(78))
        #expect(
            unsound.errorOutput == """
                warning: MERGANSER_THREDS is not a variable of this version and is ignored; did you mean MERGANSER_THREADS?
                MERGANSER_ISSUER: is not set; set it (form: URL)
                MERGANSER_THREADS: is "0"; set a whole number from 1 to 1024

                """)
    }

    @Test func saysEverythingThatIsWrongWithTheConfiguration() throws {
        let server = try Installation(["MERGANSER_ISSUER": "", "MERGANSER_SERVER_KEY": "s3cret!"]).server()
        #expect(try server.waitForExit() == .status(78))
        #expect(
            try critical(server) == [
                "MERGANSER_ISSUER: is not set; set it (form: URL)",
                "MERGANSER_SERVER_KEY: is neither hexadecimal nor base64; make a key with: openssl rand -hex 32",
            ])
        #expect(!server.errorOutput.contains("s3cret"))
    }

    @Test func refusesAKeyFileOthersCanRead() throws {
        let installation = try Installation(["MERGANSER_SERVER_KEY": ""])
        let file = try installation.directory.write(String(repeating: "ab", count: 32) + "\n", to: "key")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        let variables = ["MERGANSER_SERVER_KEY_FILE": file]
        let refused = try installation.server(setting: variables)
        #expect(try refused.waitForExit() == .status(78))
        #expect(try critical(refused).first?.hasSuffix("run: chmod 0600 \(file)") == true)

        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        let server = try installation.readyServer(setting: variables)
        #expect(server.isRunning)
    }

    @Test func refusesDevelopmentInPublic() throws {
        let server = try Installation(["MERGANSER_ISSUER": "https://id.example.com"]).server()
        #expect(try server.waitForExit() == .status(78))
        #expect(try critical(server).first?.hasPrefix("MERGANSER_ENVIRONMENT: is development, but the host of") == true)
    }

    @Test func refusesASchemaThatWasNeverMade() throws {
        let installation = try Installation(migrated: false)
        try refusesSchema(installation, "the database has no schema: run `merganserctl migrate up`")
    }

    @Test func refusesASchemaThatIsBehind() throws {
        let installation = try Installation()
        try installation.database.connect().executeScript(
            "DELETE FROM schema_migrations ORDER BY number DESC LIMIT 1")
        try refusesSchema(installation, "run `merganserctl migrate up`")
    }

    @Test func refusesASchemaOfAnIncompatibleRelease() throws {
        let installation = try Installation()
        try insertMigration(installation, number: 9000, compatibleSince: 9000)
        try refusesSchema(installation, "run the newer release")
    }

    @Test func takesTheSchemaOfACompatibleNewerRelease() throws {
        let installation = try Installation()
        try insertMigration(installation, number: 9000, compatibleSince: 1)
        let server = try installation.readyServer()
        #expect(server.isRunning)
    }

    @Test(arguments: ["fastcgi.sock", "control.sock"]) func leavesAFileInTheSocketsPlaceAlone(_ name: String) throws {
        let installation = try Installation()
        try installation.directory.write("precious", to: name)
        let server = try installation.server()
        #expect(try server.waitForExit() == .status(73))
        #expect(try critical(server).first?.contains("exists and is not a socket") == true)
        #expect(installation.directory.text(name) == "precious")
    }

    @Test(arguments: [
        ("MERGANSER_SOCKET", "/nowhere/fastcgi.sock", "cannot listen on /nowhere/fastcgi.sock: "),
        ("MERGANSER_CONTROL_SOCKET", "/nowhere/control.sock", "cannot listen on /nowhere/control.sock: "),
        ("MERGANSER_SOCKET_GROUP", "no-such-group", "there is no group no-such-group"),
        ("MERGANSER_STATE_DIRECTORY", "/dev/null", "MERGANSER_STATE_DIRECTORY: \"/dev/null\" is not a folder"),
        ("MERGANSER_ATTACHMENT_DIR", "/nowhere/attachments", "MERGANSER_ATTACHMENT_DIR: mkdir /nowhere/attachments: "),
    ])
    func saysWhatCannotBeMade(_ variable: String, _ value: String, _ message: String) throws {
        let installation = try Installation([variable: value])
        let server = try installation.server()
        #expect(try server.waitForExit() == .status(73))
        #expect(try critical(server).first?.contains(message) == true, "\(server.errorOutput)")
        #expect(try sockets(installation).isEmpty)
    }

    @Test func warnsOfVariablesNobodyReads() throws {
        let server = try Installation(["MERGANSER_THREDS": "1"]).readyServer()
        #expect(
            try server.log.first { $0["level"] == "warning" }?["message"]?.string
                == "MERGANSER_THREDS is not a variable of this version and is ignored; did you mean MERGANSER_THREADS?")
    }

    private func refusesSchema(_ installation: Installation, _ message: String) throws {
        let server = try installation.server()
        #expect(try server.waitForExit() == .status(78))
        #expect(try critical(server).first?.contains(message) == true, "\(server.errorOutput)")
        #expect(try sockets(installation).isEmpty)
    }

    private func insertMigration(_ installation: Installation, number: Int, compatibleSince: Int) throws {
        try installation.database.connect().execute(
            """
            INSERT INTO schema_migrations (number, name, digest, compatible_since, started_at, finished_at,
                                           statements_started, statements_done, done_digest)
            VALUES (?, 'later', REPEAT('d', 32), ?, NOW(3), NOW(3), 1, 1, REPEAT('d', 32))
            """, number, compatibleSince)
    }

    private func sockets(_ installation: Installation) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: installation.directory.path).filter { $0.contains(".sock") }
    }

    private func critical(_ server: ChildProcess) throws -> [String] {
        try server.log.filter { $0["level"] == "critical" }.compactMap { $0["message"]?.string }
    }
}
