import Configuration
import Files
import FoundationEssentials
import Glibc
import OpenSSL
import Text

/// The folder of settings and secrets. Only root can read it; systemd passes on what the server needs.
enum SettingsFolder {
    static let path = "/etc/merganser"
    static let secrets = ["server_key", "attachment_secret", "database_password", "owner_password"]

    /// Whether the folder has a file of that name, whatever is in it; a link counts, wherever it leads.
    static func has(_ name: String) throws -> Bool {
        var status = stat()
        if lstat("\(path)/\(name)", &status) == 0 { return true }
        guard errno == ENOENT else { throw FileError(call: "lstat", path: "\(path)/\(name)", code: errno) }
        return false
    }

    /// - Returns: nil if there is no such file. One that cannot be read is an error.
    static func text(_ name: String) throws -> String? {
        guard try has(name) else { return nil }
        do { return try String(contentsOfFile: "\(path)/\(name)", encoding: .utf8) } catch {
            throw ToolError(.failed, "\(path)/\(name) cannot be read as a text in UTF-8")
        }
    }

    static func secret(_ name: String) throws -> String? { try text(name)?.trimmingNewlines }

    /// Writes a file for root alone, with its content or not at all, in place of any other one.
    static func write(_ text: String, to name: String) throws {
        try written(text, name).rename(to: "\(path)/\(name)")
        try Folder.synchronize(path)
    }

    /// Writes a file for root alone, with its content or not at all, and never over another one.
    static func create(_ name: String, _ text: String) throws {
        let file = try written(text, name)
        // Unlike rename, link fails if there is a file.
        guard link("\(path)/.\(name).new", "\(path)/\(name)") == 0 else {
            throw FileError(call: "link", path: "\(path)/\(name)", code: errno)
        }
        withExtendedLifetime(file) {}
        try Folder.synchronize(path)
    }

    private static func written(_ text: String, _ name: String) throws -> NewFile {
        try Folder.make(path)
        // Left by a run that was killed.
        try Folder.remove(file: "\(path)/.\(name).new")
        let file = try NewFile("\(path)/.\(name).new")
        try file.append(Array(text.utf8))
        try file.synchronize()
        return file
    }
}

/// merganser.env: a line `NAME=VALUE` or `NAME="VALUE"` for each setting, which means the same to systemd and to sh. Lines that
/// nobody changes stay.
struct SettingsFile {
    private(set) var lines: [String]
    /// Those that the file does not have yet.
    private(set) var changed: [String] = []
    static let name = "merganser.env"

    static func load() throws -> SettingsFile { try SettingsFile(SettingsFolder.text(name) ?? "") }

    /// - Throws: if systemd and sh read a line otherwise, or only one of them reads it.
    init(_ text: String) throws {
        lines =
            text.isEmpty
            ? [] : text.trimmingNewlines.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        for (index, line) in lines.enumerated() where !Self.isClear(line) {
            throw ToolError(
                .configuration,
                "\(SettingsFolder.path)/\(Self.name), line \(index + 1): write NAME=VALUE, or NAME=\"VALUE\" with a value that "
                    + "has spaces; it cannot contain quotes, dollar signs or backslashes")
        }
        if self["MERGANSER_ATTACHMENT_DIR"] == nil {
            try set("MERGANSER_ATTACHMENT_DIR", "/var/lib/merganser/attachments")
        }
    }

    /// packaging/merganserctl has the same rule.
    private static func isClear(_ line: String) -> Bool {
        line.isEmpty || line.hasPrefix("#")
            || line.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*=("[^"$`\\]*"|[^\s"'$`\\;&|<>()~]*)/) != nil
    }

    subscript(_ name: String) -> String? {
        lines.last { $0.hasPrefix("\(name)=") }.map { line in
            let value = line.dropFirst(name.count + 1)
            return value.count > 1 && value.hasPrefix("\"") && value.hasSuffix("\"")
                ? String(value.dropFirst().dropLast()) : String(value)
        }
    }

    mutating func set(_ name: String, _ value: String) throws {
        guard !value.contains(where: { "\"\\$`\n".contains($0) }) else {
            throw ToolError(.usage, "\(name) cannot contain quotes, dollar signs, backslashes or line breaks")
        }
        if self[name] == value { return }
        let line = Self.isClear("\(name)=\(value)") ? "\(name)=\(value)" : "\(name)=\"\(value)\""
        if let place = lines.lastIndex(where: { $0.hasPrefix("\(name)=") }) {
            lines[place] = line
        } else {
            lines.append(line)
        }
        changed.append(name)
    }

    /// The environment that the server gets.
    var environment: [String: String] {
        var environment: [String: String] = [:]
        for name in lines.compactMap({ $0.split(separator: "=").first.map(String.init) }) {
            environment[name] = self[name]
        }
        for (name, file) in [
            ("SERVER_KEY", "server_key"), ("ATTACHMENT_SECRET", "attachment_secret"),
            ("DATABASE_PASSWORD", "database_password"),
        ] { environment["MERGANSER_\(name)_FILE"] = "\(SettingsFolder.path)/\(file)" }
        return environment
    }
}

/// Keys and passwords, each made once.
struct SecretsStep: SetupStep {
    let database: SetupDatabase
    /// Whether no other machine uses the database.
    let isFirstMachine: Bool
    let name = "keys and passwords"

    private func absent() throws -> [String] { try SettingsFolder.secrets.filter { try !SettingsFolder.has($0) } }

    func missing() throws -> [String] { try absent().map { "make \(SettingsFolder.path)/\($0)" } }

    func mend() throws {
        let absent = try absent()
        // All machines of a database share its keys and passwords.
        guard database.isLocal || isFirstMachine else {
            throw ToolError(
                .refused,
                "\(SettingsFolder.path) lacks \(absent.joined(separator: ", ")): copy the whole folder from the first machine, "
                    + "and run setup again; if this is the first one, add --first-machine")
        }
        // Another key would open nothing that this one sealed.
        if absent.contains("server_key"), try database.hasTables() {
            throw ToolError(
                .refused,
                "the database has tables, but \(SettingsFolder.path)/server_key is gone; restore it from the backup")
        }
        for name in absent { try SettingsFolder.create(name, randomBytes(32).hexadecimal + "\n") }
    }
}

struct SettingsStep: SetupStep {
    let settings: SettingsFile
    var name: String { "settings" }

    func missing() -> [String] {
        settings.changed.map { "set \($0)=\(settings[$0] ?? "") in \(SettingsFolder.path)/\(SettingsFile.name)" }
    }

    func mend() throws {
        // A server that finds them wrong does not start.
        _ = try Configuration.load(environment: settings.environment)
        try SettingsFolder.write(settings.lines.joined(separator: "\n") + "\n", to: SettingsFile.name)
    }
}
