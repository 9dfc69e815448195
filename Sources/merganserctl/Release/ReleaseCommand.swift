import ArgumentParser
import FoundationEssentials
import Glibc

struct ReleaseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "release", abstract: "Replaces the running server by the programs of the package.",
        discussion: """
            Copies the packaged programs to the folder of the color that does not run, migrates, starts that color, waits \
            until it is ready, and stops the other one, which first answers what it has. No request is lost. If anything \
            fails before the new color is ready, the old one goes on serving, and the exit status is not 0. With \
            --restart, the server reads its settings again.
            """)

    @Flag(help: "Return to the programs that served before the last release. The schema stays as it is.")
    var back = false

    @Flag(help: "Replace the server by the same programs under new settings. The schema stays as it is.")
    var restart = false

    @Option(help: "The folder of the new programs.")
    var package = "/usr/lib/merganser"

    @Option(help: "The folder of the programs that serve.")
    var programs = InstalledPrograms.standardPath

    @Option(help: "Where nginx shows health and metrics of the instances; only the count of requests needs it.")
    var status = "http://127.0.0.1:9180"

    @OptionGroup var output: Output

    func validate() throws {
        if back && restart { throw ValidationError("--back and --restart exclude each other") }
    }

    func run() throws {
        let programs = InstalledPrograms(path: programs)
        // The server's user runs what is copied here.
        umask(0o022)
        try programs.lock()
        let old = serving(programs)
        let source =
            back ? programs.before : restart ? programs.folder(of: old ?? programs.currentColor ?? .blue) : package
        guard InstalledPrograms.exist(in: source) else {
            throw ToolError(
                .refused, back ? "there is no release to go back to" : "there are no programs in \(source)")
        }
        let new = (old ?? programs.currentColor ?? .green).other
        // Left by a release that was interrupted.
        if new.state != "inactive" { try Program.run("systemctl", "stop", new.unit) }

        try step("the programs cannot be copied to \(programs.folder(of: new))", old) {
            try programs.install(source, as: new)
        }
        if !back && !restart {
            try step("the migration failed", old) {
                try Migrate.up(output, from: "\(programs.folder(of: new))/sql")
            }
        }
        let countBefore = old.flatMap { RequestCount.read($0, at: status) }
        output.progress("starting \(new.rawValue) …")
        try step("\(new.rawValue) did not come up; see journalctl -u \(new.unit)", old) {
            do { try Program.run("systemctl", "start", new.unit) } catch {
                // systemd would start it again and again.
                _ = try? Program.run("systemctl", "stop", new.unit)
                throw error
            }
        }
        try step("\(new.rawValue) came up, but could not take over", old) {
            do {
                // First, so that an interruption from here on leaves programs to go back to.
                if let old { try programs.keep(old) }
                try choose(new, programs)
                // The package brings nginx's part. What nginx does not accept does not hold the release up.
                if !programs.reloadNginx() {
                    output.progress("nginx was not reloaded, and goes on with what it has; see nginx -t")
                }
                let state = new.state
                guard state == "active" else { throw ToolError(.failed, "\(new.unit) is \(state) by now") }
            } catch {
                if let old { try? choose(old, programs) }
                _ = try? Program.run("systemctl", "stop", new.unit)
                throw error
            }
        }

        var countAfter = countBefore
        if let old {
            output.progress("\(new.rawValue) is ready; stopping \(old.rawValue) …")
            countAfter = try stop(old) ?? countBefore
        }
        let ofNew = RequestCount.read(new, at: status)
        let count: RequestCount? =
            if let countBefore, let countAfter, let ofNew { countAfter - countBefore + ofNew } else { nil }
        let result = Result(
            color: new, version: try InstalledPrograms.version(in: programs.folder(of: new)), replaced: old,
            requests: count)
        output.print(result, result.words)
    }

    /// The color that serves. One that is starting, perhaps again and again, does so only if no other one is ready. If both
    /// are, an earlier release was interrupted, and the one that it had made current stays.
    private func serving(_ programs: InstalledPrograms) -> Color? {
        let ready = Color.allCases.filter(\.isReady)
        let running = ready.isEmpty ? Color.allCases.filter(\.isRunning) : ready
        return running.count > 1 ? programs.currentColor ?? .blue : running.first
    }

    /// Makes a color the one that also serves after the machine has started again.
    private func choose(_ color: Color, _ programs: InstalledPrograms) throws {
        try programs.makeCurrent(color)
        try Program.run("systemctl", "enable", "--quiet", color.unit)
        try Program.run("systemctl", "disable", "--quiet", color.other.unit)
    }

    /// - Throws: an error that says what failed, and who goes on serving.
    private func step(_ failure: String, _ old: Color?, _ run: () throws -> Void) throws {
        do { try run() } catch {
            let cause = ToolError(error)
            let rest = old.map { "\($0.rawValue) goes on serving" } ?? "nothing serves"
            var told = ToolError(cause.kind, "\(failure). \(rest). Mend it, then run the same command again")
            told.problems = cause.message.split(separator: "\n").map(String.init) + cause.problems
            throw told
        }
    }

    /// Returns when the instance has answered its last request and has ended.
    ///
    /// - Returns: how many requests it had answered when it was last asked.
    private func stop(_ color: Color) throws -> RequestCount? {
        do { try Program.run("systemctl", "stop", "--no-block", color.unit) } catch {
            var told = ToolError(
                .failed,
                "\(color.other.rawValue) is ready, but \(color.rawValue) cannot be stopped, so both serve; see systemctl status "
                    + "\(color.unit), and stop it")
            told.problems = ["\(error)"]
            throw told
        }
        var count: RequestCount?
        while color.isRunning || color.state == "deactivating" {
            count = RequestCount.read(color, at: status) ?? count
            usleep(100_000)
        }
        return count
    }

    private struct Result: Encodable {
        let color: Color
        let version: String
        let replaced: Color?
        /// Answered by both while the one replaced the other; nil if nginx did not show the metrics.
        let requests: RequestCount?

        var words: String {
            let place = replaced.map { " in place of \($0.rawValue)" } ?? ""
            let count = requests.map {
                "\n\($0.answered) requests were answered meanwhile, \($0.failed) of them with an error of the server"
            }
            return "\(color.rawValue) serves \(version)\(place)" + (count ?? "")
        }
    }
}
