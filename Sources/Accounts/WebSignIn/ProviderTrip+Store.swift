package import IdentityTokens
import JSON
package import MariaDB
import Time

extension Accounts {
    /// Starts a sign-in with a provider, for a pending request.
    ///
    /// - Returns: the trip and its `state`.
    package func setOut(
        to provider: Provider, for request: PendingRequest, _ transaction: AccountsTransaction
    ) throws -> (trip: ProviderTrip, state: String) {
        try transaction.forgetExpiredTrips()
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

    /// The unanswered trip that started with this state.
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

    /// Stores the provider's answer until the browser fetches it. It can be fetched once.
    ///
    /// - Returns: the handle by which the browser fetches the answer; nil if the trip was already answered.
    package func answer(
        _ trip: ProviderTrip, with outcome: ProviderTrip.Outcome, _ transaction: AccountsTransaction
    ) throws -> String? {
        let handle = Secret(.plain)
        let updated = try transaction.connection.execute(
            "UPDATE provider_sign_ins SET sealed = ?, finish_digest = ? WHERE id = ? AND finish_digest IS NULL",
            seal(Sealed(handle: trip.handle, outcome), trip.id), handle.digest, trip.id)
        return updated.affectedRows == 1 ? handle.text : nil
    }

    /// What waits at the end of a trip, locked. Only the browser that started the trip finds it.
    package func arrival(
        _ handle: String, from provider: Provider, in browser: Browser, _ transaction: AccountsTransaction
    ) throws -> ProviderArrival? {
        try arrival(
            """
            SELECT id, sealed FROM provider_sign_ins
            WHERE finish_digest = ? AND provider = ? AND browser_digest = ? AND expires_at > ? FOR UPDATE
            """, handle, from: provider, in: browser, transaction.connection)
    }

    /// The same without a lock, to show what waits.
    package func arrival(
        _ handle: String, from provider: Provider, in browser: Browser, _ connection: Connection
    ) throws -> ProviderArrival? {
        try arrival(
            """
            SELECT id, sealed FROM provider_sign_ins
            WHERE finish_digest = ? AND provider = ? AND browser_digest = ? AND expires_at > ?
            """, handle, from: provider, in: browser, connection)
    }

    private func arrival(
        _ sql: StaticString, _ handle: String, from provider: Provider, in browser: Browser, _ connection: Connection
    ) throws -> ProviderArrival? {
        let found = try connection.first(
            sql, Secret(presented: handle).digest, provider.rawValue, browser.digest, clock.now
        ) { row in (id: try row.read(ProviderTrip.ID.self), sealed: try row.read([UInt8].self)) }
        guard let found else { return nil }
        let sealed = try open(found.sealed, found.id)
        return sealed.outcome(of: provider).map { outcome in
            ProviderArrival(trip: found.id, outcome: outcome, requestHandle: sealed.handle)
        }
    }

    private func seal(_ content: Sealed, _ trip: ProviderTrip.ID) -> [UInt8] {
        serverKey.seal(content.json(), for: ProviderTrip.row(trip))
    }

    private func open(_ sealed: [UInt8], _ trip: ProviderTrip.ID) throws -> Sealed {
        try Sealed(json: try serverKey.open(sealed, for: ProviderTrip.row(trip)))
    }
}

extension AccountsTransaction {
    /// Ends a trip, so that nobody finds what waits there again.
    package func end(_ arrival: ProviderArrival) throws {
        try connection.execute("DELETE FROM provider_sign_ins WHERE id = ?", arrival.trip)
    }
}

extension ProviderTrip {
    /// The identity that a row's content is sealed for.
    static func row(_ id: ID) -> [UInt8] { Array("provider_sign_in:\(id.rawValue)".utf8) }
}

/// The sealed content of a row: the pending request's handle and the raw nonce; later also the outcome.
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

/// A verified identity token, and the name that the provider sent with it.
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
