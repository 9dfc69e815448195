import Fetch
import Foundation
import MariaDB
import Migrations
import TestSupport
import Testing

/// `merganserctl release`, with a stand-in for systemctl. scripts/test-package runs it with systemd.
@Suite struct ToolReleaseTests {
    /// What a release asks of systemd. A start returns when the instance serves, or has ended.
    private static let systemctl = """
        #!/bin/sh
        cd "@FOLDER@"
        for word; do unit=$word; done
        color=${unit#merganser@}
        color=${color%.service}
        runs() { [ -s "$color.pid" ] && grep -q '^State:.[^Z]' "/proc/$(cat "$color.pid")/status" 2>/dev/null; }
        case $1 in
        is-active)
            if [ -s "$color.state" ]; then cat "$color.state"; exit 3
            elif runs; then echo active; else echo inactive; exit 3; fi
            ;;
        start)
            MERGANSER_INSTANCE=$color MERGANSER_CONTROL_SOCKET=$PWD/control-$color.sock \\
                "programs/$color/merganserd" </dev/null >/dev/null 2>"$color.log" &
            echo $! >"$color.pid"
            until grep -q '"serving"' "$color.log"; do runs || exit 1; sleep 0.1; done
            ;;
        stop)
            [ "$2" != --no-block ] || [ ! -e interrupted ] || exit 1
            rm -f "$color.state"
            runs || exit 0
            kill "$(cat "$color.pid")"
            [ "$2" = --no-block ] || while runs; do sleep 0.1; done
            ;;
        enable) [ "$color" != "$(cat unwilling 2>/dev/null)" ] || exit 1 ;;
        try-reload-or-restart)
            echo "$unit" >>reloaded
            color=$(cat mortal 2>/dev/null)
            if [ -n "$color" ]; then
                kill -KILL "$(cat "$color.pid")"
                while runs; do sleep 0.1; done
            fi
            ;;
        esac
        """

    private let front: Front
    private let installation: Installation
    private var folder: TemporaryDirectory { front.run }

    init() throws {
        front = try Front()
        installation = try Installation(migrated: false, ["MERGANSER_SOCKET": front.run.file("merganser.sock")])
        try folder.makeDirectory("bin")
        try program("bin/systemctl", Self.systemctl.replacing("@FOLDER@", with: folder.path))
        try program("bin/nginx", "#!/bin/sh\ncat \"\(folder.path)/nginx.conf\"\n")
        try folder.write("1", to: "nginx.conf")
        try pack("1.0.0")
    }

    private func program(_ name: String, _ text: String) throws {
        let path = try folder.write(text, to: name)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    }

    /// Makes a package of the programs under test, with a version of its own.
    private func pack(_ version: String) throws {
        try? FileManager.default.removeItem(atPath: folder.file("package"))
        try folder.makeDirectory("package")
        for name in ["merganserd", "merganserctl"] {
            try program(
                "package/\(name)",
                "#!/bin/sh\n[ \"$1\" != --version ] || { echo \(version); exit; }\nexec \(Repository.program(name)) \"$@\"\n"
            )
        }
        try FileManager.default.copyItem(atPath: TestDatabase.sqlDirectory, toPath: folder.file("package/sql"))
    }

    private func release(_ arguments: String...) throws -> ChildProcess.Outcome {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return try installation.tool(
            [
                "release", "--package", folder.file("package"), "--programs", folder.file("programs"), "--status",
                front.url,
            ] + arguments,
            setting: ["PATH": "\(folder.file("bin")):\(path)", "MERGANSER_SQL_DIRECTORY": folder.file("package/sql")])
    }

    private func stopBoth() {
        for color in ["blue", "green"] {
            _ = try? ChildProcess.run(folder.file("bin/systemctl"), ["stop", "merganser@\(color).service"])
        }
    }

    /// The instance that answers through nginx.
    private func isReady(_ color: String) throws -> Bool { try front.get("/-/\(color)/readyz").status == 200 }

    @Test func replacesAndReturns() throws {
        defer { stopBoth() }
        let first = try release("--json")
        #expect(first.exit == .status(0), "\(first.errorOutput)")
        #expect(first.output.contains(#""color":"blue","version":"1.0.0""#), "\(first.output)")

        try pack("1.1.0")
        let second = try release()
        #expect(second.exit == .status(0), "\(second.errorOutput)")
        #expect(second.output.hasPrefix("green serves 1.1.0 in place of blue\n"), "\(second.output)")
        #expect(second.output.contains("requests were answered meanwhile, 0 of them"), "\(second.output)")
        #expect(try isReady("green") && !isReady("blue"))
        // nginx's part is the same.
        #expect(folder.text("reloaded") == "nginx\n")

        // A release of the same programs, as after a change of settings, does not forget those before.
        #expect(try release().output.hasPrefix("blue serves 1.1.0 in place of green"))
        #expect(try release("--back").output.hasPrefix("green serves 1.0.0 in place of blue"))
        #expect(try release("--back").output.hasPrefix("blue serves 1.1.0 in place of green"))
        #expect(
            try FileManager.default.destinationOfSymbolicLink(atPath: folder.file("programs/current")) == "blue")

        // Whatever the package has, what serves stays, and so does what served before.
        try pack("1.2.0")
        try folder.write("2", to: "nginx.conf")
        #expect(try release("--restart").output.hasPrefix("green serves 1.1.0 in place of blue"))
        #expect(try release("--back").output.hasPrefix("blue serves 1.0.0 in place of green"))
        #expect(try release("--back", "--restart").exit == .status(64))
        #expect(folder.text("reloaded") == "nginx\nnginx\n")
    }

    @Test func theOldOneServesOnIfAnythingFails() throws {
        defer { stopBoth() }
        #expect(try release("--back").errorOutput.contains("there is no release to go back to"))
        #expect(try release().exit == .status(0))

        let count = try FileManager.default.contentsOfDirectory(atPath: folder.file("package/sql"))
            .count { $0.first?.isNumber == true }
        let migration = "package/sql/\(String(format: "%04d", count + 1))_more.sql"
        let broken = "ALTER TABLE nowhere ADD COLUMN x INT, ALGORITHM=INSTANT, LOCK=NONE;"
        let failures: [(words: String, break: () throws -> Void)] = [
            ("cannot be copied", { try FileManager.default.removeItem(atPath: folder.file("package/sql")) }),
            ("green did not come up", { try program("package/merganserd", "#!/bin/sh\nexit 78\n") }),
            ("green came up, but could not take over", { try folder.write("green", to: "unwilling") }),
            (
                "merganser@green.service is inactive by now",
                {
                    try folder.write("green", to: "mortal")
                    try folder.write("another", to: "nginx.conf")
                }
            ),
            ("the migration failed", { try folder.write(broken, to: migration) }),
        ]
        for failure in failures {
            try pack("1.1.0")
            try failure.break()
            let outcome = try release()
            for name in ["unwilling", "mortal"] { try? FileManager.default.removeItem(atPath: folder.file(name)) }
            #expect(outcome.exit == .status(1))
            #expect(outcome.errorOutput.contains(failure.words), "\(outcome.errorOutput)")
            #expect(outcome.errorOutput.contains("blue goes on serving"), "\(outcome.errorOutput)")
            #expect(try isReady("blue") && !isReady("green"))
            #expect(
                try FileManager.default.destinationOfSymbolicLink(atPath: folder.file("programs/current")) == "blue")
        }
        try folder.write("CREATE TABLE more (id INT PRIMARY KEY);", to: migration)
        let mended = try release()
        #expect(mended.output.hasPrefix("green serves 1.1.0"), "\(mended.errorOutput)")
    }

    @Test func anInterruptedReleaseCanBeTakenBack() throws {
        defer { stopBoth() }
        #expect(try release().exit == .status(0))
        try pack("1.1.0")
        try folder.write("", to: "interrupted")
        let interrupted = try release()
        #expect(interrupted.exit == .status(1) && interrupted.errorOutput.contains("both serve"))
        #expect(try isReady("green") && isReady("blue"))
        try FileManager.default.removeItem(atPath: folder.file("interrupted"))
        let back = try release("--back")
        #expect(back.output.hasPrefix("blue serves 1.0.0 in place of green"), "\(back.errorOutput)")
    }

    @Test func whatCrashesAgainAndAgainDoesNotServe() throws {
        defer { stopBoth() }
        let first = try release()
        #expect(first.exit == .status(0), "\(first.errorOutput)")
        try pack("1.1.0")
        try folder.write("", to: "interrupted")
        #expect(try release().exit == .status(1))
        try FileManager.default.removeItem(atPath: folder.file("interrupted"))
        // Green is current, and systemd starts it again and again.
        _ = try ChildProcess.run(folder.file("bin/systemctl"), ["stop", "merganser@green.service"])
        try folder.write("activating\n", to: "green.state")
        let back = try release("--back")
        #expect(back.output.hasPrefix("green serves 1.0.0 in place of blue"), "\(back.output)\(back.errorOutput)")
    }

    @Test func aStoppedServerComesBackAsTheOtherColor() throws {
        defer { stopBoth() }
        #expect(try release().output.hasPrefix("blue"))
        stopBoth()
        #expect(try release().output.hasPrefix("green serves 1.0.0\n"))
    }

    @Test func anOlderPackageServesIfTheSchemaFits() throws {
        defer { stopBoth() }
        let migration = "package/sql/\(String(format: "%04d", SchemaCheck.version + 1))_more.sql"
        try pack("1.1.0")
        try folder.write("CREATE TABLE more (id INT PRIMARY KEY);", to: migration)
        #expect(try release().output.hasPrefix("blue serves 1.1.0"))

        try pack("1.0.0")
        let older = try release()
        #expect(older.output.hasPrefix("green serves 1.0.0 in place of blue"), "\(older.errorOutput)")

        let db = try installation.database.connect()
        try db.query("UPDATE schema_migrations SET compatible_since = number WHERE number > \(SchemaCheck.version)")
        let refused = try release()
        #expect(refused.exit == .status(1))
        #expect(refused.errorOutput.contains("the migration failed. green goes on serving"), "\(refused.errorOutput)")
    }
}
