import Foundation
import TestSupport
import Testing

/// Merganser in an nginx that serves other sites already: one file in conf.d, and one include in a server.
@Suite struct NginxNeighbourTests {
    /// As Debian's nginx.conf.
    private static let others = """
        http {
            \(Nginx.ownFolders)
            sendfile on;
            types_hash_max_size 2048;
            default_type application/octet-stream;
            ssl_protocols TLSv1 TLSv1.1 TLSv1.2 TLSv1.3;
            ssl_prefer_server_ciphers on;
            ssl_certificate @FOLDER@/tls/fullchain.pem;
            ssl_certificate_key @FOLDER@/tls/privkey.pem;
            gzip on;
            gzip_types text/plain;
            gzip_min_length 10;
            access_log @FOLDER@/others.log;
            log_format main '$request';
            @CONF.D@
            include sites-enabled/*;
        }
        events {}
        """

    /// Two sites on the ports that Merganser gets, too: one that FastCGI answers, as PHP-FPM would, and one that is passed on
    /// to another server. None is the default server by its word, so the first one is.
    private static let sites = """
        server {
            listen 127.0.0.1:@PORT@ ssl;
            listen 127.0.0.2:@PORT@;
            server_name blog.example.com;
            location /static/ { return 200 "0123456789 0123456789 0123456789\\n"; default_type text/plain; }
            location / {
                fastcgi_param DOCUMENT_URI $document_uri;
                fastcgi_param REQUEST_METHOD $request_method;
                fastcgi_param QUERY_STRING $query_string;
                fastcgi_param REQUEST_ID 0123456789abcdef0123456789abcdef;
                fastcgi_param HANDED_ON_AT $msec;
                fastcgi_param REMOTE_ADDR $remote_addr;
                fastcgi_param SERVER_NAME $server_name;
                fastcgi_pass unix:@FOLDER@/php.sock;
            }
        }
        server {
            listen 127.0.0.1:@PORT@ ssl;
            server_name proxied.example.com;
            location / { proxy_pass http://127.0.0.4:@PORT@; }
        }
        server {
            listen 127.0.0.4:@PORT@;
            add_header X-Backend yes;
            return 404 "backend $request_uri\\n";
        }
        """

    private static let site = """
        server {
            listen 127.0.0.1:@PORT@ ssl;
            server_name id.example.com;
            include snippets/merganser.conf;
        }
        """

    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeDirectory("tls")
        try makeCertificate(folder.file("tls"))
    }

    /// That nginx, with Merganser or without it.
    private func front(withMerganser: Bool) throws -> Nginx {
        let adapt = { (port: UInt16, text: String) in
            text.replacing("@FOLDER@", with: folder.path).replacing("@PORT@", with: String(port))
                .replacing("listen 127.0.0.1:9180", with: "listen 127.0.0.3:\(port)")
                .replacing("/run/merganser/", with: folder.file("")).replacing("/var/log/nginx", with: folder.path)
        }
        for name in ["snippets", "sites-enabled"] { try folder.makeDirectory(name) }
        try folder.write(adapt(0, shipped("snippets/merganser.conf")), to: "snippets/merganser.conf")
        let level = try shipped("conf.d/merganser.conf")
        let link = try siteLink()
        let links = [
            "merganser": shippedIncludes, "snippets": folder.file("snippets"),
            "sites-enabled": folder.file("sites-enabled"),
        ]
        return try Nginx(links: links) { port in
            try folder.write(adapt(port, Self.sites), to: "sites-enabled/shop")
            if withMerganser { try folder.write(adapt(port, Self.site), to: link) }
            return adapt(port, Self.others.replacing("@CONF.D@", with: withMerganser ? level : ""))
        }
    }

    /// The name of Merganser's site among the others, as docs/deployment.md gives it.
    private func siteLink() throws -> String {
        let link = #/ln -s ../sites-available/merganser /etc/nginx/(sites-enabled/\S*)/#
        let page = try String(contentsOfFile: Repository.root + "/docs/deployment.md", encoding: .utf8)
        let name = try #require(page.firstMatch(of: link)?.1)
        return name.hasSuffix("/") ? "\(name)merganser" : String(name)
    }

    /// Status, header and body of each address's answers.
    private func ask(_ nginx: Nginx, _ host: String, _ path: String, _ options: [String] = ["-i"]) throws -> String {
        try ChildProcess.run(
            "/usr/bin/curl",
            [
                "-s", "-k", "--http1.1", "--path-as-is", "--compressed", "--max-time", "10",
                "--resolve", "\(host):\(nginx.port):127.0.0.1", "https://\(host):\(nginx.port)\(path)",
            ] + options
        ).output
    }

    @Test func nothingChangesForOtherSites() throws {
        let php = try Echo(socket: folder.file("php.sock"))
        defer { withExtendedLifetime(php) {} }
        // The paths and conditions that Merganser's part treats in a way of its own.
        let requests: [(String, String, [String])] = [
            ("blog.example.com", "/index.php?a=b", []), ("blog.example.com", "//double//slash", []),
            ("blog.example.com", "/static/x", []), ("blog.example.com", "/oauth/authorize", []),
            ("blog.example.com", "/v1/x", ["-X", "TRACE"]),
            ("blog.example.com", "/x", ["-H", "X-Long: " + String(repeating: "x", count: 9000)]),
            ("proxied.example.com", "/a?b", []), ("proxied.example.com", "/-/attachments/x", []),
            ("other.example.com", "/healthz", []),
        ]
        let answers = { (nginx: Nginx) in
            try requests.map { host, path, options in
                try ask(nginx, host, path, ["-i"] + options)
                    .replacing(/\r\n(Date|Last-Modified): [^\r]*/, with: "").replacing(":\(nginx.port)", with: ":PORT")
            }
        }
        let alone = try front(withMerganser: false)
        let before = try answers(alone)
        try alone.stop()
        let shared = try front(withMerganser: true)
        let after = try answers(shared)
        #expect(before == after)
        // The first answers come from where they should, and the server says its version, as before.
        #expect(before[0].contains("X-Path: /index.php") && before[0].contains("Server: nginx/"), "\(before[0])")
        #expect(before[6].contains("backend /a?b"), "\(before[6])")

        // The many requests of one client that would meet Merganser's limits.
        let statuses = try ask(
            shared, "blog.example.com", "/oauth/device_authorization?[1-150]",
            ["-o", "/dev/null", "-w", "%{http_code} "])
        #expect(Set(statuses.split(separator: " ")) == ["200"])
        #expect(!folder.text("merganser.access.log").contains("blog"))
    }

    @Test func merganserIsServedBesideThem() throws {
        let responder = try Echo(socket: folder.file("merganser.sock"))
        defer { withExtendedLifetime(responder) {} }
        let nginx = try front(withMerganser: true)
        let answer = try ask(nginx, "id.example.com", "//api/v1/me")
        #expect(answer.hasPrefix("HTTP/1.1 200") && answer.contains("X-Path: //api/v1/me"), "\(answer)")
        #expect(answer.contains("\r\nServer: nginx\r\n"), "\(answer)")
        // A header of 9 kB is one of ours, and the path alone is logged.
        let long = ["-i", "-H", "X-Long: " + String(repeating: "x", count: 15_000)]
        #expect(try ask(nginx, "id.example.com", "/api/v1/me?secret", long).contains(" 200 "))
        #expect(try ask(nginx, "id.example.com", "/v1/x", ["-X", "TRACE"]).contains(#"{"statusCode":405"#))
        try nginx.stop()
        let log = folder.text("merganser.access.log")
        #expect(log.contains(#""path":"/api/v1/me","#) && !log.contains("secret"))
        #expect(folder.text("others.log").isEmpty)
    }
}
