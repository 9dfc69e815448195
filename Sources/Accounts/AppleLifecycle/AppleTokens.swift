import Database
package import IdentityTokens
import MariaDB
import OpenSSL
import Time

/// Apple's refresh token as it is stored. It is sealed for a handle and not for a row, so that it can move between its
/// identity and the queue unopened.
struct SealedAppleGrant {
    var clientID: String
    /// 16 random bytes.
    var handle: [UInt8]
    var sealed: [UInt8]

    /// The identity that a value is sealed for.
    static func row(_ handle: [UInt8]) -> [UInt8] { Array("apple_token\n".utf8) + handle }

    init(clientID: String, handle: [UInt8], sealed: [UInt8]) {
        self.clientID = clientID
        self.handle = handle
        self.sealed = sealed
    }

    /// - Parameter row: with client id, handle and sealed value next.
    init(from row: inout Row) throws(MariaDBError) {
        clientID = try row.read()
        handle = try row.read()
        sealed = try row.read()
    }
}

/// What a transaction does to the queue of revocations when its rule has ended.
struct AppleRevocationChanges {
    /// A token that no identity has.
    struct Queued {
        var grant: SealedAppleGrant
        var subject: String
        /// Whose it was; nil: nobody's here.
        var user: User.ID?
        var dueAt: Timestamp
    }

    var queued: [Queued] = []
    var withdrawn: [AppleRevocation.ID] = []
    /// Digests of the subjects that are not to be named any more.
    var forgotten: [[UInt8]] = []

    var isEmpty: Bool { queued.isEmpty && withdrawn.isEmpty && forgotten.isEmpty }
}

extension Accounts {
    /// Puts a refresh token that Apple has just given where it cannot get lost, whatever becomes of the sign-in: at the
    /// identity, if a live account has it, in place of an older one, since Apple revokes a person's tokens together. Otherwise
    /// into the queue of revocations, from which an identity that is linked in time takes it.
    ///
    /// - Parameter token: with which the authorization code came.
    /// - Returns: whether it waits in the queue.
    package func place(
        _ grant: AppleGrant, of token: IdentityToken, in transaction: AccountsTransaction
    ) throws -> Bool {
        let connection = transaction.connection
        let holder = try connection.holder(of: .apple, token.subject)
        let users = try transaction.lockUsers(holder?.canonical)
        guard try connection.holder(of: .apple, token.subject) == holder else { throw TransactionMustRestart() }
        let handle = randomBytes(16)
        let sealed = SealedAppleGrant(
            clientID: grant.clientID, handle: handle,
            sealed: serverKey.seal(Array(grant.refreshToken.utf8), for: SealedAppleGrant.row(handle)))
        let user = holder.flatMap { users[$0.canonical] }
        if let user, user.deletedAt == nil {
            try transaction.setAppleGrant(sealed, of: token.subject)
            try transaction.renewAppleConsent(by: token)
            return false
        }
        transaction.appleRevocations.queued.append(
            .init(
                grant: sealed, subject: token.subject, user: user?.id,
                dueAt: transaction.now + AppleRevocation.patience))
        return true
    }

    /// Gives what waits for an identity to it, if a live account has it.
    package func takeBackAppleGrants(of token: IdentityToken, in transaction: AccountsTransaction) throws {
        guard let holder = try transaction.connection.holder(of: .apple, token.subject) else { return }
        let user = try transaction.lockUsers(holder.canonical)[holder.canonical]
        guard try transaction.connection.holder(of: .apple, token.subject) == holder else {
            throw TransactionMustRestart()
        }
        if let user, user.deletedAt == nil { try transaction.takeBackAppleGrants(of: token.subject) }
    }
}

extension AppleRevocation {
    /// How long a new token waits for its identity: longer than a browser's trip, which may end with a link.
    static let patience = ProviderTrip.lifetime + .seconds(60)
}

extension AccountsTransaction {
    /// - Parameters:
    ///   - grant: nil: none.
    ///   - subject: of an identity whose user is locked.
    func setAppleGrant(_ grant: SealedAppleGrant?, of subject: String) throws {
        try connection.execute(
            """
            UPDATE identities SET apple_client_id = ?, apple_token_handle = ?, apple_token = ?
            WHERE provider = 'apple' AND sub = ?
            """, grant?.clientID, grant?.handle, grant?.sealed, subject)
    }

    /// Notes that somebody proved an identity at Apple, and so consents there now: what Apple says of earlier times does not
    /// count any more, and what it was to revoke is the identity's again.
    ///
    /// - Parameters:
    ///   - token: of an identity whose user is locked and live.
    ///   - holder: who has the identity, read since that user is locked; nil if it was not read since.
    func renewAppleConsent(by token: IdentityToken, of holder: IdentityHolder? = nil) throws {
        guard token.provider == .apple else { return }
        if holder?.consentedAt.map({ $0 >= token.issuedAt }) != true {
            try connection.executeLater(
                """
                UPDATE identities SET consented_at = GREATEST(COALESCE(consented_at, ?), ?)
                WHERE provider = 'apple' AND sub = ?
                """, token.issuedAt, token.issuedAt, token.subject)
        }
        if holder?.hasWaitingGrants != false { try takeBackAppleGrants(of: token.subject) }
    }

    /// Notes that Apple is to revoke the tokens of a user's identities, which lose them.
    ///
    /// - Parameter user: locked.
    func revokeAppleGrants(of user: User.ID) throws {
        let grants = try connection.all(
            """
            SELECT apple_client_id, apple_token_handle, apple_token, sub FROM identities
            WHERE user_id = ? AND apple_token IS NOT NULL ORDER BY id
            """, user
        ) { row in (grant: try SealedAppleGrant(from: &row), subject: try row.read(String.self)) }
        for (grant, subject) in grants {
            try setAppleGrant(nil, of: subject)
            appleRevocations.queued.append(.init(grant: grant, subject: subject, user: user, dueAt: now))
        }
    }

    /// Takes back what Apple has not revoked yet, because the identity is back: Apple would end the new consent with the old
    /// token. An attempt that is under way cannot be stopped; if it succeeds, the token that the identity has is worth nothing,
    /// and Apple asks the person for consent at the next sign-in.
    ///
    /// - Parameter subject: of an identity whose user is locked.
    func takeBackAppleGrants(of subject: String) throws {
        let waiting = try connection.all(
            """
            SELECT id, client_id, token_handle, token FROM apple_revocations WHERE sub_digest = ? ORDER BY id
            """, sha256(subject.utf8)
        ) { row in (id: try row.read(AppleRevocation.ID.self), grant: try SealedAppleGrant(from: &row)) }
        guard let newest = waiting.last?.grant else { return }
        try connection.execute(
            """
            UPDATE identities SET apple_client_id = ?, apple_token_handle = ?, apple_token = ?
            WHERE provider = 'apple' AND sub = ? AND apple_token IS NULL
            """, newest.clientID, newest.handle, newest.sealed, subject)
        appleRevocations.withdrawn += waiting.map(\.id)
    }

    /// Makes the queue name neither a user nor any identity that the user has or had.
    ///
    /// - Parameter user: locked.
    func forgetAppleSubjects(of user: User.ID) throws {
        appleRevocations.forgotten += try connection.all(
            "SELECT sub FROM identities WHERE user_id = ? AND provider = 'apple' ORDER BY id", user
        ) { row in sha256(try row.read(String.self).utf8) }
        // An identity that was unlinked, or was another one's by then, is not among them.
        appleRevocations.forgotten += try connection.all(
            "SELECT DISTINCT sub_digest FROM apple_revocations WHERE user_id = ? AND sub_digest IS NOT NULL", user
        ) { row in try row.read([UInt8].self) }
    }

    func changeAppleRevocations() throws {
        let changes = appleRevocations
        if changes.isEmpty { return }
        try connection.executeMany("DELETE FROM apple_revocations WHERE id = ?", changes.withdrawn.sorted()) { [$0] }
        try connection.executeMany(
            """
            INSERT INTO apple_revocations (client_id, token_handle, token, sub_digest, user_id, next_attempt_at, created_at)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """, changes.queued
        ) {
            [
                $0.grant.clientID, $0.grant.handle, $0.grant.sealed, sha256($0.subject.utf8), $0.user, $0.dueAt, now,
            ]
        }
        try connection.executeMany(
            "UPDATE apple_revocations SET sub_digest = NULL, user_id = NULL WHERE sub_digest = ?", changes.forgotten
        ) { [$0] }
        if changes.queued.contains(where: { $0.dueAt <= now }) { wakeDispatchers() }
    }
}
