import API
import Database
import MariaDB
import OpenSSL
import TestSupport
import Time

@testable import Accounts

extension TestApp {
    /// Generated once, because that takes longer than most tests.
    private static let key = Result { try PrivateKey.generateRSA() }

    /// A key that signs, as an operator's `signing-key generate` and `activate` leave it.
    func addSigningKey() throws {
        try generateSigningKey(Self.key.get())
        try activateSigningKey()
    }

    @discardableResult
    func generateSigningKey(_ key: PrivateKey? = nil) throws -> SigningKey {
        let key = try key ?? PrivateKey.generateRSA()
        return try operate { try $0.publish(key, sealedUnder: service.accounts.serverKey).key }
    }

    /// - Returns: when the key begins to sign.
    @discardableResult
    func activateSigningKey(_ keyID: String? = nil, isForced: Bool = false) throws -> Timestamp {
        let activated = try operate {
            try $0.activateSigningKey(keyID, isForced: isForced, serverKey: service.accounts.serverKey).activated
        }
        return activated.activatedAt ?? time.now
    }

    /// Changes something as an operator's command does.
    func operate<Result>(_ body: (AccountsTransaction) throws -> Result) throws -> Result {
        try Accounts.write(
            Database(database.options), at: time.clock, from: Origin(requestID: "operator", address: ""), body)
    }

    /// The private part of a key, as servers open it.
    func privateKey(_ keyID: String) throws -> PrivateKey {
        let sealed = try sql { connection in
            try connection.first("SELECT sealed_private_key FROM signing_keys WHERE kid = ?", keyID) { row in
                try row.read([UInt8].self)
            }
        }
        guard let sealed else { throw TestSupportError("there is no key \(keyID)") }
        let pem = try service.accounts.serverKey.open(sealed, for: SigningKey.row(keyID))
        return try PrivateKey(pem: String(decoding: pem, as: UTF8.self))
    }
}
