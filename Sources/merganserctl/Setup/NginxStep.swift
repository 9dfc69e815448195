import Configuration
import FoundationEssentials
import Glibc

/// nginx's part: a link to the release's files, one file in conf.d, one snippet, and a site, unless another file has a server
/// of the host. Files that are there belong to the operator, and stay.
struct NginxStep: SetupStep {
    let name = "nginx"
    private let host: String
    private let issuer: String
    /// The certificate that an option names.
    private let given: String?
    private let certificate: String
    private let key: String
    private let folder = "/etc/nginx"
    private let shipped = "/usr/share/merganser/nginx"
    private let parts = "/etc/nginx/merganser"
    private let link = "/etc/nginx/sites-enabled/zz-merganser"
    /// Exists from the first change until nginx has taken all.
    private let unfinished = "\(SettingsFolder.path)/.nginx"
    private var files: FileManager { .default }

    init(settings: SettingsFile, certificate: String?, key: String?) throws {
        issuer = settings["MERGANSER_ISSUER"] ?? ""
        guard issuer.hasPrefix("https://"), let host = URL(string: issuer)?.host() else {
            throw ToolError(.usage, "the issuer is '\(issuer)'; it must begin with https://")
        }
        self.host = host
        given = certificate
        self.certificate = certificate ?? "/etc/letsencrypt/live/\(host)/fullchain.pem"
        self.key = key ?? "/etc/letsencrypt/live/\(host)/privkey.pem"
    }

    private enum Piece {
        case link(String, to: String)
        case file(String, text: String)
        /// What the operator is to do in a file of theirs, in words that begin with a verb.
        case request(String)

        var missing: String {
            switch self {
            case .link(let path, _), .file(let path, _): "write \(path)"
            case .request(let words): "have you \(words)"
            }
        }
    }

    /// What every site of Merganser's needs.
    private func absentParts() throws -> [Piece] {
        var pieces: [Piece] = []
        // A copy is what a removal of the package has left.
        if (try? files.destinationOfSymbolicLink(atPath: parts)) != "\(shipped)/merganser" {
            pieces.append(.link(parts, to: "\(shipped)/merganser"))
        }
        for name in ["conf.d/merganser.conf", "snippets/merganser.conf"] where !exists("\(folder)/\(name)") {
            let text = try read("\(shipped)/\(name)").replacing("https://id.example.com", with: issuer)
            pieces.append(.file("\(folder)/\(name)", text: text))
        }
        return pieces
    }

    /// The site and the link to it, unless a server has the snippet, or another file has a server of the host with TLS.
    private func absentSite(_ active: NginxConfiguration) throws -> [Piece] {
        if active.files.contains("\(folder)/snippets/merganser.conf") { return contradictions(active) }
        let servers = active.servers(of: host)
        if let own = servers.first(where: \.hasTLS) {
            return [.request("add `include snippets/merganser.conf;` to the server of \(host) with TLS in \(own.file)")]
        }
        let site = "\(folder)/sites-available/merganser"
        // Another server answers plain HTTP, such as certbot's, which redirects.
        let pieces: [Piece] =
            exists(site) ? [] : [.file(site, text: try self.site(active, hasPlain: !servers.isEmpty))]
        // The first site of an address gets the requests for names that no site has. With this name it stays another one.
        return pieces + [.link(link, to: "../sites-available/merganser")]
    }

    /// What files that are there say otherwise than the settings and options.
    private func contradictions(_ active: NginxConfiguration) -> [Piece] {
        let own = active.servers.filter { $0.includes("snippets/merganser.conf") }
        let names = own.flatMap(\.names)
        let file = own.first?.file ?? "\(folder)/sites-available/merganser"
        var pieces: [Piece] = []
        // A wildcard or a pattern may match.
        let isPlain = names.allSatisfy { !$0.contains(where: "*~_".contains) && !$0.hasPrefix(".") }
        if !names.isEmpty, isPlain, !names.contains(host.lowercased()) {
            pieces.append(
                .request(
                    "change the host from \(names[0]) to \(host) in \(file), with its certificate, and the issuer in "
                        + "\(folder)/conf.d/merganser.conf"))
        }
        if let given, !active.text.contains(given) {
            pieces.append(.request("change the certificate to \(given) in \(file)"))
        }
        return pieces
    }

    func missing() throws -> [String] {
        var pieces = try absentParts()
        do {
            pieces += try absentSite(NginxConfiguration(Program.run("nginx", "-T")))
        } catch let error as Program.Failure {
            // Perhaps for want of these pieces.
            if pieces.isEmpty { throw error }
            pieces += try absentSite(NginxConfiguration(""))
        }
        let isRunning = Program.succeeds("systemctl", "is-active", "--quiet", "nginx")
        return pieces.map(\.missing) + (isRunning ? exists(unfinished) ? ["reload nginx"] : [] : ["start nginx"])
    }

    func mend() throws {
        try "".write(toFile: unfinished, atomically: true, encoding: .utf8)
        var undo: [() -> Void] = []
        do {
            for piece in try absentParts() { try write(piece, &undo) }
            for piece in try absentSite(NginxConfiguration(Program.run("nginx", "-T"))) { try write(piece, &undo) }
            try Program.run("nginx", "-t", "-q")
            try reload()
        } catch {
            // What waits for the operator stays, and nginx accepts it. Otherwise other sites must be able to reload.
            if !(error is ToolError) {
                for step in undo.reversed() { step() }
                _ = try? Program.run("systemctl", "reload", "nginx")
                try? files.removeItem(atPath: unfinished)
            }
            throw error
        }
        try? files.removeItem(atPath: before(parts))
        try? files.removeItem(atPath: unfinished)
        InstalledPrograms().noteNginx()
    }

    /// - Throws: if nginx goes on with what it had. `nginx -t` does not mind a port that is taken, and a reload returns before
    ///   nginx has read anything.
    private func reload() throws {
        let old = workers
        try Program.run("systemctl", "reload-or-restart", "nginx")
        let deadline = ContinuousClock.now + .seconds(10)
        while workers.isSubset(of: old) {
            guard ContinuousClock.now < deadline else {
                throw Program.Failure(
                    words: ["systemctl", "reload", "nginx"],
                    output: "nginx goes on with the configuration that it had; see /var/log/nginx/error.log")
            }
            usleep(100_000)
        }
    }

    /// The processes of nginx's master. It starts new ones if it takes a configuration, and only then.
    private var workers: Set<Substring> {
        guard let master = try? Program.run("systemctl", "show", "--property=MainPID", "--value", "nginx"),
            let children = try? Program.run("cat", "/proc/\(master)/task/\(master)/children")
        else { return [] }
        return Set(children.split(separator: " "))
    }

    /// - Parameter undo: gets what removes the piece again.
    private func write(_ piece: Piece, _ undo: inout [() -> Void]) throws {
        switch piece {
        case .file(let path, let text):
            undo.append { try? files.removeItem(atPath: path) }
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            chmod(path, 0o644)
        case .link(let path, let target):
            let before = before(path)
            if hasName(path) {
                try? files.removeItem(atPath: before)
                try files.moveItem(atPath: path, toPath: before)
            }
            undo.append {
                try? files.removeItem(atPath: path)
                try? files.moveItem(atPath: before, toPath: path)
            }
            try files.createSymbolicLink(atPath: path, withDestinationPath: target)
        case .request(let words):
            throw ToolError(.refused, "files of yours in nginx stay as they are: \(words), and run setup again")
        }
    }

    /// - Parameter hasPlain: whether another server answers the host's plain HTTP.
    private func site(_ active: NginxConfiguration, hasPlain: Bool) throws -> String {
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
        if hasPlain { text = text.replacing(#/\nserver {\n    listen 80;[\s\S]*/#, with: "") }
        // HTTP/2 is on for all sites of a port or for none.
        let others = active.servers.flatMap(\.secureListens)
        if !others.isEmpty, !others.contains(where: { $0.contains("http2") }) {
            text = text.replacing(" ssl http2;", with: " ssl;")
        }
        if !exists("/proc/net/if_inet6") { text = text.replacing(#/ *listen \[::\][^\n]*\n/#, with: "") }
        return text
    }

    private func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Whether there is anything of this name, such as a link that leads nowhere.
    private func hasName(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// Where what a link replaces is kept until nginx has taken the link: not in sites-enabled, all of which nginx reads.
    private func before(_ path: String) -> String { "\(folder)/\(path.split(separator: "/").last ?? "").before" }

    private func read(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }
}
