import Foundation
import TestSupport
import Testing

/// `production.conf` as it is, with TLS, HTTP/2 and its default servers.
@Suite struct NginxTLSTests {
    private let nginx: Nginx
    private let folder: TemporaryDirectory

    init() throws {
        let folder = try TemporaryDirectory()
        try folder.makeDirectory("tls")
        try makeCertificate(folder.file("tls"))
        // Each kind of server at a loopback address of its own.
        let production = try shipped("production.conf")
        nginx = try Nginx(links: ["merganser": shippedIncludes]) { port in
            production
                .replacing(/\n *listen \[::\]:[^\n]*/, with: "")
                .replacing("listen 443 ", with: "listen 127.0.0.1:\(port) ")
                .replacing(/listen 80\b/, with: "listen 127.0.0.2:\(port)")
                .replacing("listen 127.0.0.1:9180", with: "listen 127.0.0.3:\(port)")
                .replacing("/etc/letsencrypt/live/id.example.com", with: folder.file("tls"))
                .replacing("/run/merganser/", with: folder.file(""))
                .replacing("/var/log/nginx", with: folder.path)
                .replacing("http {\n", with: "http {\n\(Nginx.ownFolders)\n")
        }
        self.folder = folder
    }

    private struct Answer {
        var status: Int
        var fields: [String: String]
        var body: String
    }

    /// - Parameters:
    ///   - name: of the server, in SNI and, unless an option says otherwise, in Host.
    ///   - address: where it is believed to be.
    private func ask(
        _ path: String, of name: String = "id.example.com", at address: String = "127.0.0.1", scheme: String = "https",
        _ options: [String] = []
    ) throws -> Answer {
        let outcome = try ChildProcess.run(
            "/usr/bin/curl",
            [
                "-s", "-k", "-i", "--path-as-is", "--max-time", "20", "--resolve", "\(name):\(nginx.port):\(address)",
                "\(scheme)://\(name):\(nginx.port)\(path)",
            ] + options)
        let parts = outcome.output.components(separatedBy: "\r\n\r\n")
        let lines = parts[0].components(separatedBy: "\r\n")
        let fields = lines.dropFirst().map { line in
            let parts = line.components(separatedBy: ": ")
            return (parts[0].lowercased(), parts.dropFirst().joined(separator: ": "))
        }
        return Answer(
            status: lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0,
            fields: Dictionary(fields) { first, _ in first }, body: parts.dropFirst().joined(separator: "\r\n\r\n"))
    }

    @Test(arguments: ["--http1.1", "--http2"])
    func aForeignHostIsMisdirected(version: String) throws {
        for (path, body) in [
            ("/api/v1/me", #"{"error":"misdirected_request"}"#),
            ("/v1/events", #"{"statusCode":421,"error":"Misdirected Request","message":"Invalid request"}"#),
        ] {
            let answer = try ask(path, [version, "-H", "Host: id.example.net"])
            #expect(answer.status == 421 && answer.body == body)
            expectOwnHeaders({ answer.fields[$0] }, answer.fields["content-type"] ?? "")
            #expect(answer.fields["strict-transport-security"] == nil, "that host's affair")
        }
        let page = try ask("/oauth/authorize", [version, "-H", "Host: id.example.net", "-H", "Accept: text/html"])
        #expect(page.status == 421 && page.fields["content-type"] == "text/html; charset=utf-8")
        // Spelled otherwise the host is ours.
        for host in ["ID.example.com", "id.example.com.", "id.example.com:8443"] {
            let answer = try ask("/api/v1/me", [version, "-H", "Host: \(host)"])
            #expect(answer.status == 503 && answer.fields["strict-transport-security"] == "max-age=63072000")
        }
    }

    @Test(arguments: ["--http1.1", "--http2"])
    func otherErrorsAreJSON(version: String) throws {
        for (path, options, status) in [
            ("/v1/x", ["-X", "TRACE"], 405), ("/v1/x", ["-X", "CONNECT"], 405),
        ] as [(String, [String], Int)] {
            let answer = try ask(path, [version] + options)
            #expect(answer.status == status, "\(path) \(options)")
            #expect(answer.body.hasPrefix("{\"statusCode\":\(status),"), "\(answer)")
            expectOwnHeaders({ answer.fields[$0] }, "application/json; charset=utf-8")
        }
    }

    @Test func anotherNameGetsNoHandshake() throws {
        #expect(try ask("/", of: "id.example.net").status == 0)
    }

    /// nginx's internal status 497.
    @Test func plainTextToTheTLSPortIsRefusedInJSON() throws {
        let answer = try ask("/v1/events", scheme: "http")
        #expect(answer.status == 400)
        #expect(answer.body == #"{"statusCode":400,"error":"Bad Request","message":"Invalid request"}"#)
        expectOwnHeaders({ answer.fields[$0] }, "application/json; charset=utf-8")
    }

    @Test func withoutTLSThereIsARedirectForOurHostOnly() throws {
        let ours = try ask("/oauth/authorize?a=b", at: "127.0.0.2", scheme: "http")
        #expect(ours.status == 308 && ours.fields["location"] == "https://id.example.com/oauth/authorize?a=b")
        #expect(ours.fields["x-request-id"]?.count == 32 && ours.fields["server"] == "nginx")
        let missing = try ask("/.well-known/acme-challenge/x", at: "127.0.0.2", scheme: "http")
        #expect(missing.status == 404 && missing.body == #"{"error":"not_found"}"#)
        let foreign = try ask("/api/v1/me", at: "127.0.0.2", scheme: "http", ["-H", "Host: id.example.net"])
        #expect(foreign.status == 421 && foreign.body == #"{"error":"misdirected_request"}"#)
        for answer in [missing, foreign] { expectOwnHeaders { answer.fields[$0] } }
    }
}
