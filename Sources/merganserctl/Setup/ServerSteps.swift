import FoundationEssentials

/// The first copy of the programs. `release` makes all others.
struct ProgramsStep: SetupStep {
    let name = "programs"
    private let programs = InstalledPrograms(path: "/opt/merganser")

    func missing() -> [String] {
        programs.currentColor == nil ? ["copy the programs to \(programs.folder(of: .blue))"] : []
    }

    func mend() throws {
        try programs.lock()
        try programs.install("/usr/lib/merganser", as: .blue)
        try programs.makeCurrent(.blue)
    }
}

struct SchemaStep: SetupStep {
    let name = "schema"

    func missing() -> [String] { Program.succeeds(tool, "migrate", "status") ? [] : ["migrate the database"] }

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

    private func isRunning(_ unit: String) -> Bool {
        Program.succeeds("systemctl", "is-enabled", "--quiet", unit)
            && Program.succeeds("systemctl", "is-active", "--quiet", unit)
    }

    private var absent: [String] {
        let jobs = ["gc", "compact", "retention", "attachments", "purge", "prune"].map { "merganser-\($0).timer" }
        let color = InstalledPrograms(path: "/opt/merganser").currentColor ?? .blue
        return (["merganser.socket"] + jobs + [color.unit]).filter { !isRunning($0) }
    }

    func missing() -> [String] { absent.map { "enable and start \($0)" } }

    func mend() throws {
        try Program.run("systemctl", "daemon-reload")
        for unit in absent { try Program.run("systemctl", "enable", "--now", "--quiet", unit) }
    }
}
