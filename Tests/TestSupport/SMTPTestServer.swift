package import JSON

/// A real SMTP server, aiosmtpd, on a loopback port of its own, with a certificate of its own.
package final class SMTPTestServer: Sendable {
    package enum TLS: String, Sendable {
        case none, starttls, implicit
    }

    package let port: UInt16
    /// The certificate, which is its own authority, as a PEM file.
    package var certificate: String { directory.file("certificate.pem") }

    private let directory: TemporaryDirectory
    private let process: ChildProcess

    /// - Parameters:
    ///   - names: of the certificate, as `subjectAltName` has them.
    ///   - arguments: of `Tests/Fixtures/smtp-server`.
    package init(
        _ tls: TLS, names: String = "DNS:localhost,IP:127.0.0.1", _ arguments: [String] = []
    ) throws {
        directory = try TemporaryDirectory()
        var all = ["-B", Repository.root + "/Tests/Fixtures/smtp-server/server.py", "--tls", tls.rawValue] + arguments
        if tls != .none {
            let key = directory.file("key.pem")
            let outcome = try ChildProcess.run(
                "/usr/bin/openssl",
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
                    "-subj", "/CN=test", "-addext", "subjectAltName=\(names)", "-keyout", key, "-out",
                    directory.file("certificate.pem"),
                ])
            guard outcome.exit == .status(0) else { throw TestSupportError(outcome.errorOutput) }
            all += ["--certificate", directory.file("certificate.pem"), "--key", key]
        }
        // Debian's Python, which has the package.
        process = try ChildProcess("/usr/bin/python3", all)
        var port: UInt16?
        try process.wait(for: "a port") { [process] in
            port = process.output.split(separator: "\n").first.flatMap { UInt16($0) }
            return port != nil
        }
        self.port = port ?? 0
    }

    /// What it was sent, in order: `from`, `to`, `options`, `greeting`, `tls`, `user`, `content`.
    package var messages: [JSONValue] {
        get throws {
            try process.output.split(separator: "\n").dropFirst().map { try JSONValue(json: Array($0.utf8)) }
        }
    }

    package func stop() {
        process.kill()
        _ = try? process.waitForExit()
    }

    package func wait(forMessages count: Int) throws {
        try process.wait(for: "\(count) messages") { try messages.count >= count }
    }
}
