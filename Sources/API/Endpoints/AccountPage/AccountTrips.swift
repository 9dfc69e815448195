import Accounts
import Database
import HTTP
import IdentityTokens
import MariaDB
import Pages
import Text

/// Trips to a provider that somebody makes who is signed in already, to link another identity or to merge its account
/// (accounts §4.8). The answer waits until they confirm what becomes of it.
extension Call {
    /// Stores a trip's purpose, and shows the ways to set out.
    func choicesForTrip(
        _ trip: AccountTrip, _ providers: [Provider], of visitor: AccountVisitor
    ) throws -> Response {
        try commit { transaction in
            let pending = try transaction.store(.account(visitor.user.id, trip), of: nil, in: visitor.browser)
            let choices = providers.map {
                LoginPage.Choice(provider: $0, href: pending.path("/auth/\($0.rawValue)/web/start"))
            }
            return .page(
                AccountTripPage(AccountTripPage.Purpose(trip), from: ShownUser(visitor.user), choices: choices),
                of: visitor, self)
        }
    }

    /// What the visitor's trip brought back, read without a lock.
    func proof(of trip: AccountTrip, _ visitor: AccountVisitor) throws -> ProvenIdentity? {
        try database.find { connection in
            try proof(of: trip, visitor, connection) { handle, provider in
                try accounts.arrival(handle, from: provider, in: visitor.browser, connection)
            }
        }
    }

    /// The same, locked. It is found no more when the transaction commits.
    func takeProof(
        of trip: AccountTrip, _ visitor: AccountVisitor, _ transaction: AccountsTransaction
    ) throws -> ProvenIdentity? {
        let proof = try proof(of: trip, visitor, transaction.connection) { handle, provider in
            try accounts.arrival(handle, from: provider, in: visitor.browser, transaction)
        }
        if let proof { try transaction.end(proof.arrival) }
        return proof
    }

    /// - Returns: nil if there is none: it is too old or was used, or it is another browser's, another user's or for
    ///   something else.
    private func proof(
        of trip: AccountTrip, _ visitor: AccountVisitor, _ connection: Connection,
        _ find: (_ handle: String, Provider) throws -> ProviderArrival?
    ) throws -> ProvenIdentity? {
        guard let provider = Provider(bytes: arguments[0]), let handle = queryParameters["h"],
            let arrival = try find(handle, provider), case .proved(let token, let name) = arrival.outcome,
            let pending = try accounts.pendingRequest(arrival.requestHandle, in: visitor.browser, connection),
            case .account(visitor.user.id, trip) = pending.purpose
        else { return nil }
        return ProvenIdentity(arrival: arrival, token: token, name: name, handle: handle)
    }
}

/// An identity that somebody proved who is signed in already.
struct ProvenIdentity {
    fileprivate let arrival: ProviderArrival
    let token: IdentityToken
    let name: PersonName?
    /// Names it in the page's path.
    let handle: String

    var query: String { "h=\(handle)" }
    var shown: ShownIdentity { ShownIdentity(provider: token.provider, address: token.email) }
}

extension AccountTripPage.Purpose {
    fileprivate init(_ trip: AccountTrip) {
        self =
            switch trip {
            case .link: .link
            case .merge: .merge
            }
    }
}

extension AccountPage.Notice {
    init(_ reason: ProviderTrip.Reason) {
        self =
            switch reason {
            case .cancelled: .cancelled
            case .rejected: .failed
            case .unavailable: .unavailable
            }
    }
}
