import Foundation
import MariaDB
import TestSupport
import Testing

/// Over TCP: encrypted and verified, or not at all.
struct TLSTests {
    private let folder: Folder

    init() throws {
        folder = try Folder()
        for authority in ["ca", "stranger"] {
            try folder.openssl(
                "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=\(authority) "
                    + "-keyout \(authority).key -out \(authority).pem")
        }
    }

    @Test func verifiedOrRefused() throws {
        let port = try freePort()
        try folder.certify("DNS:localhost,IP:127.0.0.1")
        let server = try MariaDBServer(options: [
            "--skip-networking=0", "--bind-address=127.0.0.1", "--port=\(port)", "--ssl-ca=\(folder.path)/ca.pem",
            "--ssl-cert=\(folder.path)/server.pem", "--ssl-key=\(folder.path)/server.key",
        ])
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

        try folder.certify("DNS:db.example.com")
        try administrator.query("FLUSH SSL")
        try refused(good)

        try folder.certify("DNS:localhost")
        try administrator.query("FLUSH SSL")
        _ = try Connection(good)
    }

    @Test func aServerWithoutTLSIsRefused() throws {
        let port = try freePort()
        let server = try MariaDBServer(options: [
            "--skip-networking=0", "--bind-address=127.0.0.1", "--port=\(port)", "--skip-ssl",
        ])
        try Connection(server.options()).query("CREATE USER tls@'%' IDENTIFIED BY 's3cr3t'")
        try refused(options(port, "ca"))
        var plain = options(port, "ca")
        plain.tls = nil
        _ = try Connection(plain)
    }

    private func options(_ port: Int, _ authority: String) -> Connection.Options {
        Connection.Options(
            address: .tcp(host: "localhost", port: port), user: "tls", password: "s3cr3t",
            tls: .init(authorityFile: "\(folder.path)/\(authority).pem"))
    }

    private func refused(_ options: Connection.Options, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let error = try #require(throws: MariaDBError.self, sourceLocation: sourceLocation) { try Connection(options) }
        #expect(!"\(error)".contains("s3cr3t"), sourceLocation: sourceLocation)
    }
}

/// A temporary folder of keys and certificates.
private final class Folder {
    let path = FileManager.default.temporaryDirectory.path + "/merganser-tls-\(UUID().uuidString)"

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// `server.pem`, signed by `ca`.
    func certify(_ names: String) throws {
        try openssl(
            "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=server -keyout server.key -out server.csr"
        )
        try "subjectAltName=\(names)\n".write(toFile: path + "/names", atomically: true, encoding: .utf8)
        try openssl(
            "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.pem")
    }

    func openssl(_ arguments: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments.split(separator: " ").map(String.init)
        process.currentDirectoryURL = URL(fileURLWithPath: path)
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }
}

private func freePort() throws -> Int {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(descriptor, $0, length) + getsockname(descriptor, $0, &length)
        }
    }
    try #require(result == 0)
    return Int(UInt16(bigEndian: address.sin_port))
}
