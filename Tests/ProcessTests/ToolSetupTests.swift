import Testing

@testable import merganserctl

/// The parts of `merganserctl setup` that read what is there. scripts/test-package runs it with nginx, MariaDB and systemd.
@Suite struct ToolSetupTests {
    private static let dump = """
        nginx: configuration file /etc/nginx/nginx.conf test is successful
        # configuration file /etc/nginx/nginx.conf:
        http { upstream u { server 127.0.0.1:1; }
            include /etc/nginx/sites-enabled/*; }
        # configuration file /etc/nginx/sites-enabled/plain:
        # server { server_name commented.example.com; }
        server { listen 80; server_name id.example.com; location / { return 301 https://$host$request_uri; } }
        # configuration file /etc/nginx/sites-enabled/tabs:
        server
        {
        \tlisten\t443 ssl http2;
        \tserver_name\ta.example.com
        \t\t"B.example.com";
        \tlocation ~ "^/x{2}$" { set $y ${host}x; include snippets/merganser.conf; }
        \tinclude /etc/nginx/snippets/other.conf; # include snippets/merganser.conf;
        }
        # configuration file /etc/nginx/sites-enabled/own:
        server { server_name .c.example.com; ssl_certificate /c.pem; listen [::]:443; include snippets/merganser.conf; }
        """

    @Test func serversOfNginxAreFound() throws {
        let nginx = NginxConfiguration(Self.dump)
        #expect(nginx.files.map { $0.split(separator: "/").last } == ["nginx.conf", "plain", "tabs", "own"])
        #expect(
            nginx.servers.map(\.names) == [["id.example.com"], ["a.example.com", "b.example.com"], [".c.example.com"]])
        #expect(nginx.servers.map(\.hasTLS) == [false, true, true])
        #expect(nginx.servers.map(\.secureListens) == [[], [["443", "ssl", "http2"]], [["[::]:443"]]])
        #expect(nginx.servers.map { $0.includes("snippets/merganser.conf") } == [false, false, true])
        #expect(nginx.servers(of: "B.example.com").map(\.file) == ["/etc/nginx/sites-enabled/tabs"])
        #expect(nginx.servers(of: "c.example.com").map(\.file) == ["/etc/nginx/sites-enabled/own"])
        #expect(nginx.servers(of: "commented.example.com").isEmpty && nginx.servers(of: "example.com").isEmpty)
    }

    @Test(arguments: ["snippets/tls.conf", "/etc/nginx/snippets/*.conf", "both"])
    func whatAServerIncludesIsItsOwn(file: String) {
        let nginx = NginxConfiguration(
            """
            # configuration file /etc/nginx/nginx.conf:
            http { server { server_name id.example.com; listen 80; include \(file); }
                server { server_name plain.example.com; location / { include snippets/tls.conf; } } }
            # configuration file /etc/nginx/snippets/tls.conf:
            listen 443 ssl;
            include snippets/merganser.conf;
            # configuration file /etc/nginx/both:
            include snippets/tls.conf;
            """)
        #expect(nginx.servers.map(\.hasTLS) == [true, false])
        #expect(nginx.servers.map { $0.includes("snippets/merganser.conf") } == [true, false])
    }

    @Test func settingsAreReadAndWrittenAsSystemdDoes() throws {
        var settings = try SettingsFile(
            """
            # What a person wrote.

            MERGANSER_BRAND_NAME="My Pond"
            MERGANSER_BRAND_ACCENT=#7a1fa2,#d0a0f0
            MERGANSER_ISSUER=https://id.example.com
            MERGANSER_ATTACHMENT_DIR=/srv
            """)
        #expect(settings["MERGANSER_BRAND_NAME"] == "My Pond")
        #expect(settings["MERGANSER_BRAND_ACCENT"] == "#7a1fa2,#d0a0f0")
        #expect(settings.changed.isEmpty)
        try settings.set("MERGANSER_BRAND_NAME", "Our Pond")
        try settings.set("MERGANSER_ISSUER", "https://id.example.com")
        #expect(settings.changed == ["MERGANSER_BRAND_NAME"])
        #expect(
            settings.lines[2] == "MERGANSER_BRAND_NAME=\"Our Pond\"" && settings.lines[0] == "# What a person wrote.")
        #expect(throws: ToolError.self) { try settings.set("MERGANSER_BRAND_NAME", "a$b") }
    }

    @Test(arguments: [
        "MERGANSER_BRAND_NAME=My Pond", "MERGANSER_BRAND_NAME='My Pond'", "MERGANSER_BRAND_NAME=\"Pond",
        "MERGANSER_BRAND_NAME=\"a$b\"", "MERGANSER_BRAND_NAME=a\"b\"", "MERGANSER_BRAND_NAME=$(id)",
        "MERGANSER_BRAND_NAME=a\\", "export MERGANSER_BRAND_NAME=Pond", " MERGANSER_BRAND_NAME=Pond",
        "MERGANSER_BRAND_NAME = Pond", "MERGANSER_BRAND_NAME", "=Pond", "merganser;id=Pond", "; comment",
    ])
    func aLineThatShAndSystemdReadOtherwiseIsRefused(line: String) throws {
        let error = #expect(throws: ToolError.self) { try SettingsFile("MERGANSER_THREADS=4\n\(line)\n") }
        #expect(error?.kind == .configuration && error?.message.contains("line 2") == true)
    }

    @Test(arguments: [
        ("", true), ("MERGANSER_DATABASE_HOST=\n", true), ("MERGANSER_DATABASE_HOST=\"\"\n", true),
        ("MERGANSER_DATABASE_NAME=merganser\nMERGANSER_DATABASE_SOCKET=/run/mysqld/mysqld.sock\n", true),
        ("MERGANSER_DATABASE_HOST=db.example.com\n", false),
    ])
    func theDatabaseIsWhereTheSettingsSay(lines: String, isLocal: Bool) throws {
        #expect(try SetupDatabase(SettingsFile(lines)).isLocal == isLocal)
    }

    /// Beside a proxy on loopback there is no TLS to require; elsewhere there is.
    @Test(arguments: [
        ("127.0.0.1", "", false), ("127.0.0.1", "/etc/ssl/ca.pem", true), ("db.example.com", "", true),
    ])
    func accountsAtAnotherMachineNeedTLS(host: String, authority: String, needsTLS: Bool) throws {
        let settings = try SettingsFile("MERGANSER_DATABASE_HOST=\(host)\nMERGANSER_DATABASE_CA_FILE=\(authority)\n")
        let step = DatabaseStep(database: try SetupDatabase(settings))
        #expect(
            step.creation(of: "merganser@'%'", password: "s")
                == "CREATE USER merganser@'%' IDENTIFIED BY 's'\(needsTLS ? " REQUIRE SSL" : "");\n")
    }

    @Test(arguments: ["NAME=other", "USER=other", "SOCKET=/srv/mysqld.sock"])
    func aDatabaseThatSetupDoesNotMakeIsRefused(setting: String) throws {
        let settings = try SettingsFile("MERGANSER_DATABASE_\(setting)\n")
        let error = #expect(throws: ToolError.self) { try SetupDatabase(settings) }
        #expect(error?.kind == .refused && error?.message.contains("by hand") == true)
    }
}
