import Foundation
import OpenSSL
import TestSupport

/// The RSA key of `TestIssuer` in the hands of openssl(1), which signs what the server's own code never would.
enum RawRSA {
    /// The private key's operation on the number itself (RSASP1, RFC 8017 §5.2.1).
    ///
    /// - Parameter encoded: 256 bytes, less than the modulus.
    static func sign(encoded: [UInt8]) throws -> [UInt8] {
        // The same operation; as a signature openssl-pkeyutl(1) makes it of nothing longer than a digest.
        try run(encoded) { key in ["pkeyutl", "-decrypt", "-inkey", key, "-pkeyopt", "rsa_padding_mode:none", "-in"] }
    }

    /// - Parameter options: of openssl-dgst(1).
    static func sign(message: [UInt8], _ options: String...) throws -> [UInt8] {
        try run(message) { key in ["dgst", "-sign", key] + options }
    }

    /// - Parameter command: what the input's name is to follow.
    private static func run(_ input: [UInt8], _ command: (_ key: String) -> [String]) throws -> [UInt8] {
        let directory = try TemporaryDirectory()
        let key = try directory.write(TestIssuer.key.pem, to: "key")
        let (inputFile, outputFile) = (directory.file("input"), directory.file("output"))
        try Data(input).write(to: URL(filePath: inputFile))
        // The output's name is an option, so it stands in front.
        var arguments = command(key)
        arguments.insert(contentsOf: ["-out", outputFile], at: 1)
        let outcome = try ChildProcess.run("/usr/bin/env", ["openssl"] + arguments + [inputFile])
        guard outcome.exit == .status(0) else { throw TestSupportError("openssl: \(outcome.errorOutput)") }
        return [UInt8](try Data(contentsOf: URL(filePath: outputFile)))
    }
}
