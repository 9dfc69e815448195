/// The configuration that nginx has, as `nginx -T` prints it, file by file.
struct NginxConfiguration {
    /// A `server { … }` with its own directives, each as its words; not those of its locations or of files that it includes.
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
                if blocks.last == true { servers[servers.count - 1].directives.append(directive) }
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
