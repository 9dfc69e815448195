import Fetch
import TestSupport
import Testing

/// Certificates are verified: authority, name and time.
@Suite struct TLSTests {
    /// OpenSSL's own test server, which answers every GET with a page.
    private final class Server {
        let directory: TemporaryDirectory
        let port: String
        private let process: ChildProcess

        var certificate: String { directory.file("certificate.pem") }

        init(name: String, days: Int = 1, arguments: [String] = []) throws {
            directory = try TemporaryDirectory()
            let (key, request) = (directory.file("key.pem"), directory.file("request.pem"))
            try Self.openssl([
                "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=test",
                "-addext", "subjectAltName=\(name)", "-keyout", key, "-out", request,
            ])
            try Self.openssl([
                "x509", "-req", "-in", request, "-signkey", key, "-copy_extensions", "copy", "-days", "\(days)", "-out",
                directory.file("certificate.pem"),
            ])
            process = try ChildProcess(
                "/usr/bin/openssl",
                [
                    "s_server", "-accept", "127.0.0.1:0", "-cert", directory.file("certificate.pem"), "-key", key,
                    "-www",
                ] + arguments)
            var port: Substring?
            try process.wait(for: "a port") { [process] in
                let line = process.output.split(separator: "\n").first { $0.hasPrefix("ACCEPT ") }
                port = line?.split(separator: ":").last
                return port != nil
            }
            self.port = String(port ?? "")
        }

        private static func openssl(_ arguments: [String]) throws {
            let outcome = try ChildProcess.run("/usr/bin/openssl", arguments)
            try #require(outcome.exit == .status(0), "\(outcome.errorOutput)")
        }
    }

    private func fetch(_ server: Server, host: String = "localhost", trusting file: String?) throws -> Int {
        var options = Fetcher.Options()
        options.certificateAuthorities = file
        return try Fetcher(options).get("https://\(host):\(server.port)/").status
    }

    /// CURLE_PEER_FAILED_VERIFICATION
    private static let verificationFailed = 60

    private func expectFailure(_ server: Server, host: String = "localhost", trusting file: String?) throws {
        let error = try #require(throws: FetchError.self) { try fetch(server, host: host, trusting: file) }
        #expect(error.reason == .failed)
        #expect(error.code == Self.verificationFailed)
    }

    @Test func certificateMustBeTrusted() throws {
        let server = try Server(name: "DNS:localhost,IP:127.0.0.1")
        #expect(try fetch(server, trusting: server.certificate) == 200)
        #expect(try fetch(server, host: "127.0.0.1", trusting: server.certificate) == 200)
        try expectFailure(server, trusting: nil)
        let other = try Server(name: "DNS:localhost")
        try expectFailure(server, trusting: other.certificate)
    }

    @Test func certificateMustHaveTheName() throws {
        let server = try Server(name: "DNS:example.com")
        try expectFailure(server, trusting: server.certificate)
        try expectFailure(server, host: "127.0.0.1", trusting: server.certificate)
    }

    @Test func oldProtocolsAreRefused() throws {
        let server = try Server(name: "DNS:localhost", arguments: ["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"])
        let error = try #require(throws: FetchError.self) { try fetch(server, trusting: server.certificate) }
        #expect(error.reason == .failed)
    }
}
