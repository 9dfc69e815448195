import FoundationEssentials

/// The first copy of the programs. `release` makes all others.
struct ProgramsStep: SetupStep {
    let name = "programs"
    private let programs = InstalledPrograms()

    func missing() -> [String] {
        programs.currentColor == nil ? ["copy the programs to \(programs.folder(of: .blue))"] : []
    }

    func mend() throws {
        try programs.lock()
        try programs.install("/usr/lib/merganser", as: .blue)
        try programs.makeCurrent(.blue)
    }
}

/// The schema before the first start. A server that is ready has the one that it needs, and newer migrations are part of a
/// release.
struct SchemaStep: SetupStep {
    let name = "schema"

    func missing() -> [String] {
        if Color.allCases.contains(where: \.isReady) { return [] }
        return Program.succeeds(tool, "migrate", "status") ? [] : ["migrate the database"]
    }

    func mend() throws { try Program.run(tool, "migrate", "up") }
}

struct SigningKeyStep: SetupStep {
    let name = "signing key"

    func missing() throws -> [String] { try keys().contains(" active ") ? [] : ["make and activate a signing key"] }

    func mend() throws {
        // An earlier run may have made it.
        if try !keys().contains(" next ") { try Program.run(tool, "signing-key", "generate") }
        try Program.run(tool, "signing-key", "activate")
    }

    private func keys() throws -> String { try Program.output(tool, "signing-key", "list") }
}

/// What systemd starts.
struct UnitsStep: SetupStep {
    let name = "units"

    private func isEnabled(_ unit: String) -> Bool { Program.succeeds("systemctl", "is-enabled", "--quiet", unit) }
    private func isRunning(_ unit: String) -> Bool {
        isEnabled(unit) && Program.succeeds("systemctl", "is-active", "--quiet", unit)
    }

    /// Whether a release has ended between its start and its end, so that both colors run, or will.
    private var isReleaseUnfinished: Bool {
        Color.allCases.allSatisfy(\.isRunning) || Color.allCases.allSatisfy { isEnabled($0.unit) }
    }

    private var absent: [String] {
        let jobs = ["gc", "compact", "retention", "attachments", "purge", "prune"].map { "merganser-\($0).timer" }
        let color = InstalledPrograms().currentColor ?? .blue
        return (["merganser.socket"] + jobs + [color.unit]).filter { !isRunning($0) }
    }

    func missing() -> [String] {
        isReleaseUnfinished
            ? ["have you run merganserctl release, because a release was interrupted"]
            : absent.map { "enable and start \($0)" }
    }

    func mend() throws {
        if isReleaseUnfinished {
            throw ToolError(
                .refused,
                "a release was interrupted, so both colors run or are enabled: run merganserctl release, and then setup again"
            )
        }
        try Program.run("systemctl", "daemon-reload")
        for unit in absent { try Program.run("systemctl", "enable", "--now", "--quiet", unit) }
    }
}
