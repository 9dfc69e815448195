import Accounts
import Analytics
import JSON
import SignInClaims

private struct AnonymousIDMember: Decodable {
    @Exact var anonymousID: String?
}

/// The id under which the client has reported its events (accounts Stage 5).
struct CarriedAnonymousID {
    let id: EndUserID?

    /// Of a request whose member does not count.
    static let none = CarriedAnonymousID(id: nil)

    private init(id: EndUserID?) { self.id = id }

    /// - Throws: `invalidRequest` unless it follows analytics' rules for anonymous ids, or is absent.
    init(_ call: Call) throws {
        guard try call.hasMember("anonymous_id"), let text = try call.decode(AnonymousIDMember.self).anonymousID else {
            id = nil
            return
        }
        let id = EndUserID(rawValue: text)
        guard id.isAnonymous, (try? id.check(field: "anonymous_id")) != nil else { throw Failure.invalidRequest }
        self.id = id
    }

    /// Keeps it with the device, and claims for the user what the device reported. A device that belongs to a relying party's
    /// application carries none: that party could name any id.
    ///
    /// - Parameters:
    ///   - device: the user's; nil: the id is claimed and not kept.
    ///   - isStart: whether the app only starts again.
    /// - Returns: the member `claims`; nil if the request carried no id that counts.
    func claim(
        for user: User, on device: Device?, isStart: Bool = false, in transaction: AccountsTransaction
    ) throws -> [AccountClaimReply]? {
        let id = device?.application == nil ? id : nil
        let claims = try transaction.claim(id, for: user, on: device?.id, isStart: isStart)
        return id.map { _ in claims.map(AccountClaimReply.init) }
    }

    /// Keeps it with the device of somebody who has not signed in yet.
    func keep(on device: @autoclosure () throws -> Device?, in transaction: AccountsTransaction) throws {
        if let id, let device = try device() { try transaction.keep(id, on: device.id) }
    }
}
