package import Fetch
import Foundation

/// nginx with one of the shipped configurations, in a folder of its own.
package struct Front {
    package enum Configuration: String {
        /// As `make run` starts it.
        case loopback = "loopback.conf"
        /// Has the public server's limits, but no TLS, because the certificate is the operator's.
        case production = "production.conf"
    }

    /// Holds logs, sockets and keys: what `.run` is for `make run`.
    package let run: TemporaryDirectory
    private let nginx: Nginx

    /// - Parameter adapting: changes the text of the configuration and of each file it includes before nginx reads it.
    package init(_ configuration: Configuration = .loopback, adapting: (String) -> String = { $0 }) throws {
        let run = try TemporaryDirectory()
        for folder in ["keys", "logs", "nginx", "merganser"] { try run.makeDirectory(folder) }
        for name in try FileManager.default.contentsOfDirectory(atPath: shippedIncludes) {
            try run.write(adapting(try shipped("merganser/\(name)")), to: "merganser/\(name)")
        }
        var text = adapting(try shipped(configuration.rawValue))
        if configuration == .production { text = Front.withoutTLS(text) }
        nginx = try Nginx(links: ["merganser": run.file("merganser")]) { port in
            text.replacingOccurrences(of: "@RUN@", with: run.path)
                .replacingOccurrences(of: "@SOCKETS@", with: run.path)
                .replacingOccurrences(of: "@PORT@", with: String(port))
        }
        self.run = run
    }

    package var url: String { nginx.url }
    package var accessLog: String { run.text("logs/nginx-access.log") }

    package func get(_ path: String, headers: [(String, String)] = []) throws -> Fetcher.Response {
        try fetcher.get(url + path, headers: headers)
    }

    package func post(_ path: String, headers: [(String, String)] = [], size: Int = 2) throws -> Fetcher.Response {
        try fetcher.post(url + path, headers: headers, body: Array(repeating: UInt8(ascii: "x"), count: size))
    }

    /// A connection of its own, for requests that no well-behaved client sends.
    package func connect() throws -> HTTPConnection { try HTTPConnection(port: nginx.port) }

    /// Stops nginx gracefully, so that its logs are complete.
    package func stop() throws { try nginx.stop() }

    private var fetcher: Fetcher {
        var options = Fetcher.Options()
        options.allowsLoopbackHTTP = true
        (options.connectTimeout, options.timeout) = (.seconds(60), .seconds(60))
        return Fetcher(options)
    }

    /// Puts the public server on the test's port, and the others on sockets in its folder.
    private static func withoutTLS(_ production: String) -> String {
        var others = 0
        return
            production
            .replacing("listen 443 ssl http2;", with: "listen 127.0.0.1:@PORT@;")
            .replacing(/listen (?!127\.0\.0\.1:@PORT@)[^ ;]+/) { _ in
                others += 1
                return "listen unix:@RUN@/\(others).sock"
            }
            .replacing(" ssl http2", with: "")
            .replacing(/ssl_certificate[^;]*;/, with: "")
            .replacing("/run/merganser/", with: "@RUN@/")
            .replacing("/var/lib/merganser/attachments", with: "@RUN@/attachments")
            .replacing("/var/log/nginx", with: "@RUN@/logs")
            .replacing("http {\n", with: "http {\n\(Nginx.ownFolders)\n")
    }
}

/// The folder of the files that both configurations include.
package let shippedIncludes = Repository.root + "/nginx/merganser"

/// A configuration's text, without the lines that the tests' nginx gets from its command line. In place of the includes of
/// the files that an operator adapts stand these files.
package func shipped(_ name: String) throws -> String {
    let adapted = [
        "conf.d/merganser.conf": "conf.d/merganser.conf", "snippets/merganser.conf": "snippets/merganser.conf",
        "sites-enabled/*merganser": "site.conf",
    ]
    return try String(contentsOfFile: Repository.root + "/nginx/" + name, encoding: .utf8)
        .split(separator: "\n", omittingEmptySubsequences: false)
        .filter { !$0.hasPrefix("user ") && !$0.hasPrefix("pid ") }
        .map { line in
            guard let path = line.wholeMatch(of: #/ *include (.*);/#)?.1, let file = adapted[String(path)]
            else { return String(line) }
            return try shipped(file)
        }
        .joined(separator: "\n")
}
