import Analytics
import Configuration
import FoundationEssentials
import Glibc

/// Folders and sockets of this machine.
struct SystemChecks {
    let findings: [Finding]

    init(_ configuration: Configuration) {
        let server = configuration.server
        findings = [
            Self.socket("socket", server.socket), Self.socket("control socket", server.controlSocket),
            Self.stateDirectory(server.stateDirectory),
            Self.attachmentDirectory(configuration.analytics.attachments.directory),
        ]
    }

    private static func socket(_ check: String, _ path: String) -> Finding {
        let folder = URL(filePath: path).deletingLastPathComponent().path
        guard let folderStatus = Status(folder), folderStatus.type == S_IFDIR else {
            return .fail(check, "there is no folder \(folder)", "install -d -m 0755 -o USER \(folder)")
        }
        if folderStatus.permissions & 0o1002 == 0o002 {
            return .fail(check, "every user can replace sockets in \(folder)", "chmod o-w \(folder)")
        }
        guard access(folder, W_OK) == 0 else {
            return .warn(
                check, "this user cannot create sockets in \(folder)",
                "run as the server's user, or chown the folder; ignore this if systemd holds the socket")
        }
        guard let status = Status(path) else { return .ok(check, "\(path) can be created") }
        guard status.type == S_IFSOCK else {
            return .fail(check, "\(path) exists and is not a socket", "remove it")
        }
        guard status.permissions & 0o006 == 0 else {
            return .fail(check, "every user can connect to \(path)", "chmod 0660 \(path)")
        }
        return .ok(check, path)
    }

    private static func stateDirectory(_ path: String) -> Finding {
        guard let status = Status(path), status.type == S_IFDIR, access(path, W_OK) == 0 else {
            return .fail(
                "state", "\(path) is not a folder that this user can write to", "install -d -m 0711 -o USER \(path)")
        }
        // A user who can write here can choose the keys that verify identity tokens.
        guard status.permissions & 0o022 == 0 else {
            return .fail("state", "other users can write to \(path)", "chmod go-w \(path)")
        }
        return .ok("state", path)
    }

    /// The server creates it, in a folder that must exist.
    private static func attachmentDirectory(_ path: String) -> Finding {
        let mend = "install -d -m 0700 -o USER \(path)"
        guard let status = Status(path) else {
            let folder = URL(filePath: path).deletingLastPathComponent().path
            guard access(folder, W_OK) == 0 else {
                return .fail("attachments", "there is no folder \(path), and this user cannot create it", mend)
            }
            return .ok("attachments", "\(path) can be created")
        }
        guard status.type == S_IFDIR, access(path, W_OK) == 0 else {
            return .fail("attachments", "\(path) is not a folder that this user can write to", mend)
        }
        guard status.permissions & 0o002 == 0 else {
            return .fail("attachments", "every user can write to \(path)", "chmod o-w \(path)")
        }
        return .ok("attachments", path)
    }

    private struct Status {
        let type: mode_t
        let permissions: mode_t

        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            type = status.st_mode & S_IFMT
            permissions = status.st_mode & 0o7777
        }
    }
}
