import Foundation
import MariaDB
import OpenSSL
import TestSupport
import Testing
import Text

@testable import Accounts

/// Private parts of signing keys are nowhere in plain text: not in the database, its dumps, answers or logs.
@Suite struct SigningKeySecretsTests {
    let installation: Installation
    private let db: Connection

    init() throws {
        installation = try Installation()
        db = try installation.database.connect()
    }

    @Test func privatePartsAreNowhereInClear() throws {
        let server = try installation.readyServer()
        var said = ""
        for words in [
            ["generate"], ["activate"], ["generate", "--json"], ["list"], ["list", "--json"],
            ["activate", "--force", "--json"],
        ] {
            let outcome = try installation.tool(["signing-key"] + words)
            #expect(outcome.exit == .status(0), "\(outcome)")
            said += outcome.output + outcome.errorOutput
        }
        let doctor = try installation.tool("doctor", "--json")
        said += doctor.output + doctor.errorOutput
        for path in ["/.well-known/jwks.json", "/.well-known/openid-configuration"] {
            said += String(decoding: try installation.ask("GET", path).body, as: UTF8.self)
        }
        server.terminate()
        #expect(try server.waitForExit() == .status(0))
        said += server.errorOutput

        let keys = try privateKeys()
        #expect(keys.count == 2)
        let serverKey = Data(repeating: 0xC4, count: 32)
        let secrets = try keys.flatMap(Self.secretParts) + [serverKey]
        let dumps = try [dump(), dump("--hex-blob")]
        for text in dumps + [Data(said.utf8)] {
            #expect(Self.leaks(of: secrets, in: text).isEmpty)
            #expect(text.range(of: Data("PRIVATE KEY".utf8)) == nil)
            for member in ["d", "p", "q", "dp", "dq", "qi"] {
                #expect(text.range(of: Data(#""\#(member)":"#.utf8)) == nil)
            }
        }

        // Else the search would be hollow: what stands there in clear is found, in every form.
        let pem = try #require(keys.first?.pem)
        try db.execute("UPDATE users SET name = 'x'")
        try db.execute("UPDATE signing_keys SET sealed_private_key = ? ORDER BY id LIMIT 1", Array(pem.utf8))
        for dump in try [dump(), dump("--hex-blob")] {
            #expect(Self.leaks(of: secrets, in: dump).count >= 1)
        }
        for secret in secrets {
            for form in Self.forms(of: secret) {
                #expect(Self.leaks(of: [secret], in: Data("…".utf8) + form) == [secret])
            }
        }
    }

    private func privateKeys() throws -> [PrivateKey] {
        let serverKey = ServerKey(current: [UInt8](repeating: 0xC4, count: 32))
        return try db.all("SELECT kid, sealed_private_key FROM signing_keys") { row in
            let keyID = try row.read(String.self)
            let pem = try serverKey.open(row.read(), for: SigningKey.row(keyID))
            return try PrivateKey(pem: String(decoding: pem, as: UTF8.self))
        }
    }

    /// The contents of an operator's backup.
    private func dump(_ options: String...) throws -> Data {
        guard case .unixSocket(let socket) = installation.database.options.address else { return Data() }
        let file = installation.directory.file("dump.sql")
        let outcome = try ChildProcess.run(
            "/usr/bin/mariadb-dump",
            ["--socket=\(socket)", "--user=\(installation.database.options.user)", "--result-file=\(file)"] + options
                + [installation.database.name])
        #expect(outcome.exit == .status(0), "\(outcome)")
        let dump = try Data(contentsOf: URL(filePath: file))
        #expect(dump.range(of: Data("INSERT INTO `signing_keys`".utf8)) != nil)
        return dump
    }

    /// The PKCS #8 form and every number in it that is not public.
    private static func secretParts(_ key: PrivateKey) throws -> [Data] {
        let base64 = key.pem.split(separator: "\n").filter { !$0.hasPrefix("-") }.joined()
        let pkcs8 = try #require(Data(base64Encoded: base64))
        // RFC 5958 §2: version, algorithm, then the key (RFC 8017 A.1.2): version, n, e, d, p, q, dp, dq, qi.
        let outer = DER.elements(try #require(DER.elements(pkcs8).first))
        let numbers = DER.elements(try #require(DER.elements(outer[2]).first))
        #expect(numbers.count == 9)
        return [pkcs8] + numbers[3...].map { $0.drop { $0 == 0 } }.map { Data($0) }
    }

    private static func leaks(of secrets: [Data], in text: Data) -> [Data] {
        secrets.filter { secret in forms(of: secret).contains { text.range(of: $0) != nil } }
    }

    /// The bytes in hexadecimal and in both alphabets of base64: the start, and each line of the PEM form.
    private static func forms(of secret: Data) -> [Data] {
        let hex = Array(secret).hexadecimal
        let base64 = secret.base64EncodedString()
        let first = String(base64.prefix(40))
        let lines = stride(from: 0, to: base64.count - 63, by: 64).map { start in
            String(base64.dropFirst(start).prefix(64))
        }
        let texts =
            [hex, hex.uppercased(), first, first.replacing("+", with: "-").replacing("/", with: "_")]
            + lines.dropFirst()
        return [secret] + texts.map { Data($0.utf8) }
            + lines.dropFirst().map { Data(Array($0.utf8).hexadecimal.uppercased().utf8) }
    }
}

/// The part of X.690 that is needed to take a private key apart.
private enum DER {
    /// The contents of consecutive elements.
    static func elements(_ bytes: Data) -> [Data] {
        var rest = bytes[...]
        var elements: [Data] = []
        while rest.popFirst() != nil, var length = rest.popFirst().map(Int.init) {
            if length > 0x80 {
                let size = length - 0x80
                length = rest.prefix(size).reduce(0) { $0 << 8 | Int($1) }
                rest = rest.dropFirst(size)
            }
            elements.append(Data(rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        return elements
    }
}
