package import IdentityTokens
import JSON
package import MariaDB
import Time

extension Accounts {
    /// Sets out to a provider, for the sake of a request that waits in the browser.
    ///
    /// - Returns: the trip and its `state`.
    package func setOut(
        to provider: Provider, for request: PendingRequest, _ transaction: AccountsTransaction
    ) throws -> (trip: ProviderTrip, state: String) {
        let state = Secret(.plain)
        let outcome = try transaction.connection.execute(
            """
            INSERT INTO provider_sign_ins (provider, state_digest, browser_digest, expires_at) VALUES (?, ?, ?, ?)
            """, provider.rawValue, state.digest, request.browser.digest, transaction.now + ProviderTrip.lifetime)
        let trip = ProviderTrip(
            id: ProviderTrip.ID(rawValue: Int64(outcome.lastInsertID)), rawNonce: Secret(.plain).text,
            handle: request.handle)
        try transaction.connection.execute(
            "UPDATE provider_sign_ins SET sealed = ? WHERE id = ?",
            seal(Sealed(handle: trip.handle, rawNonce: trip.rawNonce), trip.id), trip.id)
        return (trip, state.text)
    }

    /// The trip that set out with a state and is not answered yet.
    package func trip(state: String, to provider: Provider, _ connection: Connection) throws -> ProviderTrip? {
        let found = try connection.first(
            """
            SELECT id, sealed FROM provider_sign_ins
            WHERE state_digest = ? AND provider = ? AND finish_digest IS NULL AND expires_at > ?
            """, Secret(presented: state).digest, provider.rawValue, clock.now
        ) { row in (id: try row.read(ProviderTrip.ID.self), sealed: try row.read([UInt8].self)) }
        return try found.flatMap { found in
            let sealed = try open(found.sealed, found.id)
            return sealed.rawNonce.map { ProviderTrip(id: found.id, rawNonce: $0, handle: sealed.handle) }
        }
    }

    /// Keeps the provider's answer until the browser comes for it, once.
    ///
    /// - Returns: the handle to come with; nil when the trip was answered meanwhile.
    package func answer(
        _ trip: ProviderTrip, with outcome: ProviderTrip.Outcome, _ transaction: AccountsTransaction
    ) throws -> String? {
        let handle = Secret(.plain)
        let updated = try transaction.connection.execute(
            "UPDATE provider_sign_ins SET sealed = ?, finish_digest = ? WHERE id = ? AND finish_digest IS NULL",
            seal(Sealed(handle: trip.handle, outcome), trip.id), handle.digest, trip.id)
        return updated.affectedRows == 1 ? handle.text : nil
    }

    /// Ends a trip in the browser that set out, and in no other.
    ///
    /// - Returns: how it ended, and the handle of the request it was for.
    package func arrive(
        _ handle: String, from provider: Provider, in browser: Browser, _ transaction: AccountsTransaction
    ) throws -> (outcome: ProviderTrip.Outcome, requestHandle: String)? {
        let found = try transaction.connection.first(
            """
            SELECT id, sealed FROM provider_sign_ins
            WHERE finish_digest = ? AND provider = ? AND browser_digest = ? AND expires_at > ? FOR UPDATE
            """, Secret(presented: handle).digest, provider.rawValue, browser.digest, transaction.now
        ) { row in (id: try row.read(ProviderTrip.ID.self), sealed: try row.read([UInt8].self)) }
        guard let found else { return nil }
        let sealed = try open(found.sealed, found.id)
        guard let outcome = sealed.outcome(of: provider) else { return nil }
        try transaction.connection.execute("DELETE FROM provider_sign_ins WHERE id = ?", found.id)
        return (outcome, sealed.handle)
    }

    private func seal(_ content: Sealed, _ trip: ProviderTrip.ID) -> [UInt8] {
        serverKey.seal(content.json(), for: ProviderTrip.row(trip))
    }

    private func open(_ sealed: [UInt8], _ trip: ProviderTrip.ID) throws -> Sealed {
        try Sealed(json: try serverKey.open(sealed, for: ProviderTrip.row(trip)))
    }
}

extension ProviderTrip {
    /// What a row's content is sealed for.
    static func row(_ id: ID) -> [UInt8] { Array("provider_sign_in:\(id.rawValue)".utf8) }
}

/// What a row keeps sealed: the request's handle with the raw nonce, later with the outcome.
private struct Sealed: Codable {
    var handle: String
    var rawNonce: String?
    var proof: Proof?
    var failure: ProviderTrip.Reason?

    init(handle: String, rawNonce: String) {
        self.handle = handle
        self.rawNonce = rawNonce
    }

    init(handle: String, _ outcome: ProviderTrip.Outcome) {
        self.handle = handle
        switch outcome {
        case .proved(let token, let name): proof = Proof(token, name)
        case .failed(let reason): failure = reason
        }
    }

    func outcome(of provider: Provider) -> ProviderTrip.Outcome? {
        proof.map { .proved($0.token(of: provider), $0.name) } ?? failure.map { .failed($0) }
    }
}

/// A verified identity token, and the name that came with it.
private struct Proof: Codable {
    var subject: String
    var email: String?
    var emailVerified: Bool
    var isPrivateEmail: Bool
    var hostedDomain: String?
    var issuedAt: Int64
    var name: PersonName?

    init(_ token: IdentityToken, _ name: PersonName?) {
        subject = token.subject
        email = token.email
        emailVerified = token.emailVerified
        isPrivateEmail = token.isPrivateEmail
        hostedDomain = token.hostedDomain
        issuedAt = token.issuedAt.milliseconds
        self.name = name
    }

    func token(of provider: Provider) -> IdentityToken {
        IdentityToken(
            provider: provider, subject: subject, email: email, emailVerified: emailVerified,
            isPrivateEmail: isPrivateEmail, hostedDomain: hostedDomain,
            issuedAt: Timestamp(milliseconds: issuedAt))
    }
}
