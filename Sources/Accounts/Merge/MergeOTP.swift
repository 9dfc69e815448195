import MariaDB
import OpenSSL
package import Time

/// A one-time password: it proves that whoever merges accounts reads the mail of the one that is absorbed (accounts §3.1).
package struct MergeOTP: Sendable {
    package typealias ID = Identifier<MergeOTP>

    package static let lifetime = Duration.seconds(300)
    /// So many wrong codes void the right one.
    static let maximumTries = 5

    /// Where a code goes.
    package struct Delivery: Sendable {
        package let address: String
        /// Eight digits.
        package let code: String
        package let expiresAt: Timestamp
    }
}

/// How a requester names the account that is to be absorbed.
package enum MergeTarget: Sendable {
    case user(User.ID)
    /// A login_email, in any spelling of ASCII letters.
    case email(String)

    /// The same for every spelling of a name. No id is an address.
    fileprivate var name: String {
        switch self {
        case .user(let id): "user \(id.rawValue)"
        case .email(let address): "email " + String(decoding: FoldedAddress(address).bytes, as: UTF8.self)
        }
    }
}

/// A code is stored under its requester and this: the account that gets it or, if nobody does, how the target was named.
private struct TargetKey {
    let digest: [UInt8]

    init(of user: User.ID?, named target: MergeTarget) {
        digest = sha256((user.map { MergeTarget.user($0).name } ?? "unsent \(target.name)").utf8)
    }
}

extension Accounts {
    /// Makes a code for a target of the requester's. It voids the one before it for the same pair, and no other.
    ///
    /// Neither the answer nor its cost reveals whether the target exists.
    ///
    /// - Returns: to whom the code goes, nil when nobody gets it: the target is no other live user with a login_email, or has
    ///   got enough under another name. `rateLimited` is a result and no error, so that counters are kept.
    package func issueMergeOTP(
        for target: MergeTarget, to caller: Caller, in transaction: AccountsTransaction
    ) throws -> Result<MergeOTP.Delivery?, Failure> {
        let requester = try transaction.lockCaller(caller).caller.id
        if let wait = try transaction.count(.mergeOTPsOfRequester, for: "\(requester.rawValue)") {
            return .failure(.rateLimited(retryAfter: wait))
        }
        // Thrown, so that a refused request does not use up what the target gets in a day.
        if let wait = try transaction.count(.mergeOTPsOfName, for: target.name) {
            throw Failure.rateLimited(retryAfter: wait)
        }
        let found = try transaction.connection.mailableUser(target)
        let counted = found.map { MergeTarget.user($0.id).name } ?? target.name
        let isWithinLimit = try transaction.count(.mergeOTPsOfTarget, for: counted) == nil
        let recipient = found?.id != requester && isWithinLimit ? found : nil
        let key = TargetKey(of: recipient?.id, named: target)
        let code = randomText(8, of: .digits)
        let expiresAt = transaction.now + MergeOTP.lifetime
        try transaction.connection.execute(
            """
            INSERT INTO merge_otps (requester_id, target_key, code_mac, created_at, expires_at) VALUES (?, ?, ?, ?, ?)
            """, requester, key.digest, serverKey.mac(Self.message(code, requester, key)), transaction.now, expiresAt)
        return .success(
            recipient.map { MergeOTP.Delivery(address: $0.address, code: code, expiresAt: expiresAt) })
    }

    /// The row of a right code, which is locked.
    ///
    /// Nil for a wrong, used, voided or expired code, and for a target that never got one. If the requester has asked for
    /// a code, each of these cases runs the same statements, so that time does not reveal which account a name leads to. A
    /// try is counted, so the transaction has to be committed although the request is refused.
    ///
    /// - Parameters:
    ///   - user: whom the target leads to, as `mailableUser` finds it.
    ///   - requester: locked.
    func checkMergeOTP(
        _ code: String, for target: MergeTarget, leadingTo user: User.ID?, of requester: User.ID,
        in transaction: AccountsTransaction
    ) throws -> MergeOTP.ID? {
        let key = TargetKey(of: user, named: target)
        guard let otp = try transaction.lockMergeOTP(requester, key) else { return nil }
        guard otp.tries < MergeOTP.maximumTries, !otp.isUsed, transaction.now < otp.expiresAt else {
            try transaction.connection.execute("UPDATE merge_otps SET refusals = refusals + 1 WHERE id = ?", otp.id)
            return nil
        }
        if serverKey.isMAC(otp.mac, of: Self.message(code, requester, key)) { return otp.id }
        try transaction.connection.execute("UPDATE merge_otps SET tries = tries + 1 WHERE id = ?", otp.id)
        return nil
    }

    private static func message(_ code: String, _ requester: User.ID, _ key: TargetKey) -> [UInt8] {
        Array("merge_otp\n\(requester.rawValue)\n".utf8) + key.digest + Array(code.utf8)
    }
}

/// A row of merge_otps.
private struct StoredOTP {
    let id: MergeOTP.ID
    let mac: [UInt8]
    let tries: Int
    let expiresAt: Timestamp
    let isUsed: Bool
}

extension Connection {
    /// The live user that a name leads to and that mail reaches: by id itself, by address the canonical one. One statement.
    func mailableUser(_ target: MergeTarget) throws -> (id: User.ID, address: String)? {
        let found =
            switch target {
            case .user(let id):
                try first(
                    """
                    SELECT u.id, u.login_email FROM users u
                    WHERE u.id = ? AND u.deleted_at IS NULL
                      AND NOT EXISTS (SELECT 1 FROM identity_links l WHERE l.linked_user_id = u.id)
                    """, id
                ) { row in (id: try row.read(User.ID.self), address: try row.read(String?.self)) }
            case .email(let address):
                try first(
                    """
                    SELECT u.id, u.login_email
                    FROM users named LEFT JOIN identity_links l ON l.linked_user_id = named.id
                    JOIN users u ON u.id = COALESCE(l.primary_user_id, named.id)
                    WHERE named.live_login_email = ? AND u.deleted_at IS NULL
                    """, FoldedAddress(address)
                ) { row in (id: try row.read(User.ID.self), address: try row.read(String?.self)) }
            }
        guard let found, let address = EmailAddress.present(found.address) else { return nil }
        return (found.id, address)
    }
}

extension AccountsTransaction {
    /// The newest code of a pair, which has voided those before it.
    fileprivate func lockMergeOTP(_ requester: User.ID, _ key: TargetKey) throws -> StoredOTP? {
        try connection.first(
            """
            SELECT id, code_mac, tries, expires_at, used_at IS NOT NULL FROM merge_otps
            WHERE requester_id = ? AND target_key = ? ORDER BY id DESC LIMIT 1 FOR UPDATE
            """, requester, key.digest
        ) { row in
            StoredOTP(
                id: try row.read(), mac: try row.read(), tries: try row.read(), expiresAt: try row.read(),
                isUsed: try row.read())
        }
    }

    func useUp(_ otp: MergeOTP.ID) throws {
        try connection.execute("UPDATE merge_otps SET used_at = ? WHERE id = ?", now, otp)
    }
}
