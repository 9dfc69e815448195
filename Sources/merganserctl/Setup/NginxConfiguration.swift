import Glibc

/// The configuration that nginx has, as `nginx -T` prints it, file by file.
struct NginxConfiguration {
    /// A `server { … }` with its own directives, each as its words, and those of files that it includes; not those of its
    /// locations.
    struct Server {
        let file: String
        fileprivate(set) var directives: [[String]] = []

        private func arguments(_ name: String) -> [[String]] {
            directives.filter { $0.first == name }.map { Array($0.dropFirst()) }
        }

        var names: [String] { arguments("server_name").joined().map { $0.lowercased() } }
        var hasTLS: Bool {
            arguments("listen").contains { $0.contains("ssl") } || !arguments("ssl_certificate").isEmpty
        }
        /// The arguments of each `listen` of the port of https.
        var secureListens: [[String]] { arguments("listen").filter { $0.first?.wholeMatch(of: /(.*:)?443/) != nil } }

        func includes(_ file: String) -> Bool { arguments("include").contains { $0.first?.hasSuffix(file) == true } }
    }

    let text: String
    private(set) var files: [String] = []
    private(set) var servers: [Server] = []
    /// The directives of each file that stand in none of its blocks.
    private var directives: [String: [[String]]] = [:]

    init(_ dump: String) {
        text = dump
        var lines: [Substring] = []
        for line in dump.split(separator: "\n") {
            if let path = line.wholeMatch(of: /# configuration file (.*):/)?.1 {
                read(lines.joined(separator: "\n"))
                lines = []
                files.append(String(path))
            } else {
                lines.append(line)
            }
        }
        read(lines.joined(separator: "\n"))
        for index in servers.indices { servers[index].directives = resolved(servers[index].directives) }
    }

    /// Directives, each `include` followed by what it includes. nginx takes no file that includes itself.
    private func resolved(_ directives: [[String]]) -> [[String]] {
        directives.flatMap { directive -> [[String]] in
            guard directive.count == 2, directive[0] == "include" else { return [directive] }
            return [directive] + files(directive[1]).flatMap { resolved(self.directives[$0] ?? []) }
        }
    }

    /// The files that an `include` means: a path or a pattern (glob), from the folder of nginx.conf on.
    private func files(_ pattern: String) -> [String] {
        let folder = files.first?.split(separator: "/").dropLast().joined(separator: "/") ?? ""
        let path = pattern.hasPrefix("/") ? pattern : "/\(folder)/\(pattern)"
        return files.filter { fnmatch(path, $0, FNM_PATHNAME | FNM_PERIOD) == 0 }
    }

    /// The servers that have exactly this name.
    func servers(of host: String) -> [Server] {
        servers.filter { $0.names.contains(host.lowercased()) || $0.names.contains(".\(host.lowercased())") }
    }

    /// Reads the text of the last file.
    private mutating func read(_ text: String) {
        var directive: [String] = []
        // Whether each block around is a server.
        var blocks: [Bool] = []
        for token in Self.tokens(of: text) {
            switch token {
            case .word(let word):
                directive.append(word)
                continue
            case .end:
                if blocks.isEmpty {
                    directives[files.last ?? "", default: []].append(directive)
                } else if blocks.last == true {
                    servers[servers.count - 1].directives.append(directive)
                }
            case .opening:
                blocks.append(directive == ["server"])
                if blocks.last == true { servers.append(Server(file: files.last ?? "")) }
            case .closing:
                _ = blocks.popLast()
            }
            directive = []
        }
    }

    private enum Token {
        case word(String)
        case end, opening, closing
    }

    /// Splits a text as nginx does (ngx_conf_read_token).
    private static func tokens(of text: String) -> [Token] {
        var tokens: [Token] = []
        var rest = Array(text.unicodeScalars)[...]
        while let first = rest.popFirst() {
            switch first {
            case " ", "\t", "\r", "\n": continue
            case ";": tokens.append(.end)
            case "{": tokens.append(.opening)
            case "}": tokens.append(.closing)
            case "#": rest = rest.drop { $0 != "\n" }
            case "\"", "'":
                var word = String.UnicodeScalarView()
                while let next = rest.popFirst(), next != first {
                    word.append(next)
                    if next == "\\", let escaped = rest.popFirst() { word.append(escaped) }
                }
                tokens.append(.word(String(word)))
            default:
                var word = String.UnicodeScalarView([first])
                while let next = rest.first, !" \t\r\n;".unicodeScalars.contains(next) {
                    // ${name} is part of a word.
                    if next == "{", word.last != "$" { break }
                    word.append(rest.removeFirst())
                    if next == "\\", let escaped = rest.popFirst() { word.append(escaped) }
                }
                tokens.append(.word(String(word)))
            }
        }
        return tokens
    }
}
