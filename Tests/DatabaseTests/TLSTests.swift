import MariaDB
import TestSupport
import Testing

/// Over TCP: encrypted and verified, or not at all.
struct TLSTests {
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        for name in ["ca", "stranger"] {
            try openssl(
                ["req", "-x509", "-subj", "/CN=\(name)", "-days", "2", "-keyout", "\(name).key", "-out", "\(name).pem"]
                    + newKey)
        }
    }

    private let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]

    /// `server.pem`, signed by `ca`.
    private func certify(_ names: String) throws {
        try folder.write("subjectAltName=\(names)\n", to: "names")
        try openssl(["req", "-subj", "/CN=server", "-keyout", "server.key", "-out", "server.csr"] + newKey)
        try openssl([
            "x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
            "-extfile", "names", "-out", "server.pem",
        ])
    }

    private func openssl(_ arguments: [String]) throws {
        let outcome = try ChildProcess.run(
            "/bin/sh", ["-c", "cd \"$0\" && exec openssl \"$@\"", folder.path] + arguments)
        try #require(outcome.exit == .status(0), "\(outcome.errorOutput)")
    }

    @Test func verifiedOrRefused() throws {
        try certify("DNS:localhost,IP:127.0.0.1")
        let (server, port) = try onFreePort { port in
            try MariaDBServer(options: [
                "--skip-networking=0", "--bind-address=127.0.0.1", "--port=\(port)", "--ssl-ca=\(folder.path)/ca.pem",
                "--ssl-cert=\(folder.path)/server.pem", "--ssl-key=\(folder.path)/server.key",
            ])
        }
        let administrator = try Connection(server.options())
        try administrator.query("CREATE USER tls@'%' IDENTIFIED BY 's3cr3t' REQUIRE SSL")

        let good = options(port, "ca")
        let db = try Connection(good)
        #expect(try db.query("SHOW STATUS LIKE 'Ssl_version'")[0][1]?.isEmpty == false)
        try refused(options(port, "stranger"))
        try refused(options(port, "missing"))
        var plain = good
        plain.tls = nil
        try refused(plain)

        try certify("DNS:db.example.com")
        try administrator.query("FLUSH SSL")
        try refused(good)

        try certify("DNS:localhost")
        try administrator.query("FLUSH SSL")
        _ = try Connection(good)
    }

    @Test func aServerWithoutTLSIsRefused() throws {
        let (server, port) = try onFreePort { port in
            try MariaDBServer(options: [
                "--skip-networking=0", "--bind-address=127.0.0.1", "--port=\(port)", "--skip-ssl",
            ])
        }
        try Connection(server.options()).query("CREATE USER tls@'%' IDENTIFIED BY 's3cr3t'")
        try refused(options(port, "ca"))
        var plain = options(port, "ca")
        plain.tls = nil
        _ = try Connection(plain)
    }

    private func options(_ port: UInt16, _ authority: String) -> Connection.Options {
        Connection.Options(
            address: .tcp(host: "localhost", port: Int(port)), user: "tls", password: "s3cr3t",
            tls: .init(authorityFile: "\(folder.path)/\(authority).pem"))
    }

    private func refused(_ options: Connection.Options, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let error = try #require(throws: MariaDBError.self, sourceLocation: sourceLocation) { try Connection(options) }
        #expect(!"\(error)".contains("s3cr3t"), sourceLocation: sourceLocation)
    }
}
