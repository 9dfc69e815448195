import FoundationEssentials
import IdentityTokens
import JOSE
import JSON
import OpenSSL
import Text

/// Stands in for Apple and Google on a developer's machine: an RSA and a P-256 key for each, as files.
///
/// `<provider>-rs256.pem` and `<provider>-es256.pem` are the private keys; `<provider>.json` is the key set, which the
/// development nginx serves.
struct DevelopmentIssuer {
    let directory: URL

    /// Creates the missing keys and writes the key sets.
    func initialize() throws {
        let files = FileManager.default
        try files.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        for provider in Provider.allCases {
            let keys = try [Algorithm.rs256, .es256].map { algorithm in
                if let key = try key(provider, algorithm) { return key }
                let key = try algorithm == .rs256 ? PrivateKey.generateRSA() : .generateP256()
                let path = file(provider, algorithm).path
                let isWritten = files.createFile(
                    atPath: path, contents: Data(key.pem.utf8), attributes: [.posixPermissions: 0o600])
                guard isWritten else { throw ToolError(.failed, "\(path) cannot be written") }
                return key
            }
            let keySet = KeySet(keys.map { JWK(keyID: Self.keyID(of: $0), key: $0.publicKey) })
            try Data(keySet.json()).write(to: keySetFile(provider), options: .atomic)
        }
    }

    /// The provider's key for an algorithm; nil before `initialize`.
    func key(_ provider: Provider, _ algorithm: Algorithm) throws -> PrivateKey? {
        guard let pem = FileManager.default.contents(atPath: file(provider, algorithm).path) else { return nil }
        return try PrivateKey(pem: String(decoding: pem, as: UTF8.self))
    }

    /// A kid that is derived from the key itself, so that a new key has a new kid.
    static func keyID(of key: PrivateKey) -> String {
        Base64URL.encode(Array(sha256(JWK(keyID: "", key: key.publicKey).json()).prefix(12)))
    }

    func keySetFile(_ provider: Provider) -> URL { directory.appending(path: "\(provider.rawValue).json") }

    private func file(_ provider: Provider, _ algorithm: Algorithm) -> URL {
        directory.appending(path: "\(provider.rawValue)-\(algorithm.rawValue.lowercased()).pem")
    }
}
