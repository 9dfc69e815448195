import FoundationEssentials
import Glibc
import OpenSSL
import Text

/// The folder of the programs that serve. It has a folder for each color; `before` with the programs that served before the
/// last release; and `current`, a link to the folder of the color that serves.
///
/// No package owns it, so an upgrade leaves what serves alone, and a color that crashes starts again as it was.
struct InstalledPrograms {
    let path: String
    /// Where the units of systemd and the packaged command look for it.
    static let standardPath = "/opt/merganser"
    private static let names = ["merganserd", "merganserctl"]
    private var files: FileManager { .default }

    init(path: String = standardPath) { self.path = path }

    func folder(of color: Color) -> String { "\(path)/\(color.rawValue)" }
    var before: String { "\(path)/before" }
    private var current: String { "\(path)/current" }

    /// The color that was made to serve last.
    var currentColor: Color? {
        (try? files.destinationOfSymbolicLink(atPath: current)).flatMap(Color.init)
    }

    static func exist(in folder: String) -> Bool {
        names.allSatisfy { access("\(folder)/\($0)", X_OK) == 0 }
    }

    /// The version of the programs in a folder, with its commit.
    static func version(in folder: String) throws -> String { try Program.run("\(folder)/merganserd", "--version") }

    /// Keeps others from a release at the same time, until this process ends.
    func lock() throws {
        try files.createDirectory(atPath: path, withIntermediateDirectories: true)
        let descriptor = open("\(path)/.lock", O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw ToolError(.refused, "another release is under way, or \(path) cannot be written")
        }
    }

    /// Copies programs and their migrations to the folder of a color that does not run. If anything fails, the folder stays
    /// as it was.
    ///
    /// - Parameter source: a folder of programs, with the migrations in its folder `sql`.
    func install(_ source: String, as color: Color) throws {
        let new = "\(folder(of: color)).new"
        try? files.removeItem(atPath: new)
        do {
            try files.createDirectory(atPath: new, withIntermediateDirectories: true)
            // The package has the migrations elsewhere, and a link to them.
            for name in Self.names + ["sql"] {
                try Program.run("cp", "--recursive", "--dereference", "\(source)/\(name)", new)
            }
            try Program.run("sync", "--file-system", new)
        } catch {
            try? files.removeItem(atPath: new)
            throw error
        }
        try? files.removeItem(atPath: folder(of: color))
        try files.moveItem(atPath: new, toPath: folder(of: color))
    }

    /// Keeps the programs of a color as those before, unless those of the other color are the same. Takes no space: the files
    /// have two names.
    func keep(_ old: Color) throws {
        let isSame = Self.names.allSatisfy {
            files.contentsEqual(atPath: "\(folder(of: old))/\($0)", andPath: "\(folder(of: old.other))/\($0)")
        }
        if isSame { return }
        let new = "\(before).new"
        try? files.removeItem(atPath: new)
        try Program.run("cp", "--recursive", "--link", folder(of: old), new)
        try? files.removeItem(atPath: before)
        try files.moveItem(atPath: new, toPath: before)
    }

    /// Has nginx read its configuration, if that is another one than it was told to read last. With HTTP/2 a reload may cost a
    /// request: nginx ends idle connections, also those on which one is under way to it.
    ///
    /// - Returns: false if nginx goes on with what it has.
    func reloadNginx() -> Bool {
        guard let nginxDigest else { return false }
        if (try? String(contentsOfFile: readByNginx, encoding: .utf8)) == nginxDigest { return true }
        guard Program.succeeds("systemctl", "try-reload-or-restart", "nginx") else { return false }
        noteNginx()
        return true
    }

    /// Notes that nginx has read its configuration as it is.
    func noteNginx() { try? nginxDigest?.write(toFile: readByNginx, atomically: true, encoding: .utf8) }

    private var readByNginx: String { "\(path)/nginx.sha256" }

    /// Of the configuration that nginx would read now; nil if it would not take it.
    private var nginxDigest: String? {
        (try? Program.run("nginx", "-T", "-q")).map { sha256($0.utf8).hexadecimal }
    }

    func makeCurrent(_ color: Color) throws {
        let new = "\(current).new"
        try? files.removeItem(atPath: new)
        try files.createSymbolicLink(atPath: new, withDestinationPath: color.rawValue)
        guard rename(new, current) == 0 else { throw ToolError(.failed, "\(current) cannot be replaced") }
    }
}
