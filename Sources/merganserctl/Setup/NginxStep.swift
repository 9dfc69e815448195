import Configuration
import FoundationEssentials
import Glibc

/// nginx's part: a link to the release's files, one file in conf.d, one snippet, and a site, unless another file has a server
/// of the host. Files that are there belong to the operator, and stay.
struct NginxStep: SetupStep {
    let name = "nginx"
    private let host: String
    private let issuer: String
    private let certificate: String
    private let key: String
    private let folder = "/etc/nginx"
    private let shipped = "/usr/share/merganser/nginx"
    private let link = "/etc/nginx/sites-enabled/zz-merganser"
    private var files: FileManager { .default }

    init(settings: SettingsFile, certificate: String?, key: String?) throws {
        issuer = settings["MERGANSER_ISSUER"] ?? ""
        guard issuer.hasPrefix("https://"), let host = URL(string: issuer)?.host() else {
            throw ToolError(.usage, "the issuer is '\(issuer)'; it must begin with https://")
        }
        self.host = host
        self.certificate = certificate ?? "/etc/letsencrypt/live/\(host)/fullchain.pem"
        self.key = key ?? "/etc/letsencrypt/live/\(host)/privkey.pem"
    }

    private enum Piece {
        case link(String, to: String)
        case file(String, text: String)
        /// A line for the operator to write, in a file of theirs.
        case include(in: String)

        var missing: String {
            switch self {
            case .link(let path, _), .file(let path, _): "write \(path)"
            case .include(let path): "have you add `include snippets/merganser.conf;` to the server in \(path)"
            }
        }
    }

    /// What every site of Merganser's needs.
    private func absentParts() throws -> [Piece] {
        var pieces: [Piece] = []
        // A copy is what a removal of the package has left.
        if (try? files.destinationOfSymbolicLink(atPath: "\(folder)/merganser")) != "\(shipped)/merganser" {
            pieces.append(.link("\(folder)/merganser", to: "\(shipped)/merganser"))
        }
        for name in ["conf.d/merganser.conf", "snippets/merganser.conf"] where !exists("\(folder)/\(name)") {
            let text = try read("\(shipped)/\(name)").replacing("https://id.example.com", with: issuer)
            pieces.append(.file("\(folder)/\(name)", text: text))
        }
        return pieces
    }

    /// The site and the link to it, unless a server has the snippet, or another file has a server of the host.
    private func absentSite(_ active: Active) throws -> [Piece] {
        if active.includes("\(folder)/snippets/merganser.conf") { return [] }
        if let file = active.file(ofServer: host) { return [.include(in: file)] }
        let site = "\(folder)/sites-available/merganser"
        let pieces: [Piece] = exists(site) ? [] : [.file(site, text: try self.site(active))]
        // The first site of an address gets the requests for names that no site has. With this name it stays another one.
        return pieces + [.link(link, to: "../sites-available/merganser")]
    }

    func missing() throws -> [String] {
        var pieces = try absentParts()
        do {
            pieces += try absentSite(Active(Program.run("nginx", "-T")))
        } catch let error as Program.Failure {
            // Perhaps for want of these pieces.
            if pieces.isEmpty { throw error }
            pieces += try absentSite(Active(""))
        }
        return pieces.map(\.missing)
            + (Program.succeeds("systemctl", "is-active", "--quiet", "nginx") ? [] : ["start nginx"])
    }

    func mend() throws {
        var written: [String] = []
        do {
            for piece in try absentParts() { try write(piece, &written) }
            for piece in try absentSite(Active(Program.run("nginx", "-T"))) { try write(piece, &written) }
            try Program.run("nginx", "-t", "-q")
        } catch {
            // Other sites must be able to reload.
            if !(error is ToolError) { for path in written { try? files.removeItem(atPath: path) } }
            throw error
        }
        try Program.run("systemctl", "reload-or-restart", "nginx")
    }

    /// - Parameter written: gets the path, if nginx can do without it.
    private func write(_ piece: Piece, _ written: inout [String]) throws {
        switch piece {
        case .file(let path, let text):
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            chmod(path, 0o644)
            written.append(path)
        case .link(let path, let target):
            try? files.removeItem(atPath: path)
            try files.createSymbolicLink(atPath: path, withDestinationPath: target)
            if path == link { written.append(path) }
        case .include(let path):
            throw ToolError(
                .refused,
                "\(path) has a server of \(host): add `include snippets/merganser.conf;` to it, reload nginx, and run setup again"
            )
        }
    }

    private func site(_ active: Active) throws -> String {
        for file in [certificate, key] where !exists(file) {
            throw ToolError(
                .refused,
                "there is no \(file); get a certificate, such as with `certbot certonly --webroot -w /var/www/html -d \(host) "
                    + "--deploy-hook 'systemctl reload nginx'`, or name one with --certificate and --certificate-key, and run "
                    + "setup again")
        }
        var text = try read("\(shipped)/site.conf")
            .replacing("/etc/letsencrypt/live/id.example.com/fullchain.pem", with: certificate)
            .replacing("/etc/letsencrypt/live/id.example.com/privkey.pem", with: key)
            .replacing("id.example.com", with: host)
        // HTTP/2 is on for all sites of a port or for none.
        if !active.allowsHTTP2 { text = text.replacing(" ssl http2;", with: " ssl;") }
        if !exists("/proc/net/if_inet6") { text = text.replacing(#/ *listen \[::\][^\n]*\n/#, with: "") }
        return text
    }

    private func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    private func read(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    /// The configuration that nginx has, as `nginx -T` prints it, file by file.
    private struct Active {
        /// With the path of the file that each is in, without the space before them.
        private var lines: [(file: String, line: String)] = []

        init(_ dump: String) {
            var file = ""
            for line in dump.split(separator: "\n") {
                if let path = line.wholeMatch(of: /# configuration file (.*):/)?.1 { file = String(path) }
                lines.append((file, String(line.drop { $0.isWhitespace })))
            }
        }

        /// Whether the file at a path is part of it, however it is included.
        func includes(_ path: String) -> Bool { lines.contains { $0.file == path } }

        /// The file that has a server of this name.
        func file(ofServer host: String) -> String? {
            lines.first {
                $0.line.hasPrefix("server_name ") && $0.line.split { " ;".contains($0) }.contains(Substring(host))
            }?.file
        }

        var allowsHTTP2: Bool {
            let others = lines.map(\.line).filter { $0.contains(/^listen\s+(\S*:)?443\b/) }
            return others.isEmpty || others.contains { $0.contains(" http2") }
        }
    }
}
