import Fetch
import Foundation
import TestSupport
import Testing

/// nginx with one of the shipped configurations, in a folder of its own.
struct Front {
    enum Configuration: String {
        /// As `make run` starts it.
        case loopback = "loopback.conf"
        /// Has the public server's limits, but no TLS, because the certificate is the operator's.
        case production = "production.conf"
    }

    /// Holds logs, sockets and keys: what `.run` is for `make run`.
    let run: TemporaryDirectory
    private let nginx: Nginx

    /// - Parameter adapting: changes the text of the configuration and of each file it includes before nginx reads it.
    init(_ configuration: Configuration = .loopback, adapting: (String) -> String = { $0 }) throws {
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

    var url: String { nginx.url }
    var accessLog: String { run.text("logs/nginx-access.log") }

    func get(_ path: String, headers: [(String, String)] = []) throws -> Fetcher.Response {
        try fetcher.get(url + path, headers: headers)
    }

    func post(_ path: String, headers: [(String, String)] = [], size: Int = 2) throws -> Fetcher.Response {
        try fetcher.post(url + path, headers: headers, body: Array(repeating: UInt8(ascii: "x"), count: size))
    }

    /// A connection of its own, for requests that no well-behaved client sends.
    func connect() throws -> HTTPConnection { try HTTPConnection(port: nginx.port) }

    /// Stops nginx gracefully, so that its logs are complete.
    func stop() throws { try nginx.stop() }

    private var fetcher: Fetcher {
        var options = Fetcher.Options()
        options.allowsLoopbackHTTP = true
        return Fetcher(options)
    }

    /// Puts the public server on the test's port, and the others on sockets in its folder.
    private static func withoutTLS(_ production: String) -> String {
        var others = 0
        return
            production
            .replacing("listen 443 ssl http2 backlog=4096", with: "listen 127.0.0.1:@PORT@")
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

let shippedIncludes = Repository.root + "/nginx/merganser"

/// A configuration's text, without the lines that the tests' nginx gets from its command line.
func shipped(_ name: String) throws -> String {
    try String(contentsOfFile: Repository.root + "/nginx/" + name, encoding: .utf8)
        .split(separator: "\n", omittingEmptySubsequences: false)
        .filter { !$0.hasPrefix("user ") && !$0.hasPrefix("pid ") }
        .joined(separator: "\n")
}

/// A key and a certificate of its own for id.example.com.
func makeCertificate(_ folder: String) throws {
    let outcome = try ChildProcess.run(
        "/usr/bin/openssl",
        [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
            "-subj", "/CN=id.example.com", "-keyout", folder + "/privkey.pem", "-out", folder + "/fullchain.pem",
        ])
    #expect(outcome.exit == .status(0), "\(outcome.errorOutput)")
}

extension Fetcher.Response {
    var text: String { String(decoding: body, as: UTF8.self) }
}

/// Checks the headers that nginx's own answers share with the responder's.
func expectOwnHeaders(
    _ header: (String) -> String?, _ type: String = "application/json",
    sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(header("content-type") == type, sourceLocation: sourceLocation)
    #expect(header("cache-control") == "no-store", sourceLocation: sourceLocation)
    #expect(header("x-request-id")?.count == 32, sourceLocation: sourceLocation)
    #expect(header("x-logi-request-id") == header("x-request-id"), sourceLocation: sourceLocation)
    #expect(header("server") == "nginx", sourceLocation: sourceLocation)
    #expect(header("x-content-type-options") == "nosniff", sourceLocation: sourceLocation)
    #expect(header("referrer-policy") == "no-referrer", sourceLocation: sourceLocation)
}
