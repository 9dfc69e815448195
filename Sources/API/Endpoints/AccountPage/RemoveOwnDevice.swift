import Accounts
import Database
import HTTP
import Pages

/// `GET /account/devices/{id}/remove`: asks whether a device is to be signed out for good.
@Sendable func askToRemoveOwnDevice(_ call: Call, _ visitor: AccountVisitor) throws -> Response {
    try call.requireRecentSignIn(of: visitor)
    if visitor.user.anonymous { return .account(.anonymous) }
    let devices = try call.database.read { try $0.listedDevices(of: visitor.user.id) }
    guard let device = devices.first(where: { $0.id == call.deviceID }) else { return .account(.gone) }
    let page = AccountQuestionPage(
        .removeDevice(ShownDevice(device)), about: ShownUser(visitor.user), form: call.accountForm(of: visitor))
    return .page(page, of: visitor, call)
}

/// `POST /account/devices/{id}/remove` (accounts §4.8).
@Sendable func removeOwnDevice(_ call: Call, _ visitor: AccountVisitor) throws -> Response {
    try call.requireRecentSignIn(of: visitor)
    return try call.changeAccount { transaction in
        guard let device = call.deviceID else { throw Failure.notFound }
        try call.accounts.removeDevice(device, by: visitor.caller, in: transaction)
        return .deviceRemoved
    }
}

extension Call {
    /// The device in the path; nil for what is no id.
    fileprivate var deviceID: Device.ID? { Int64(arguments[0]).map(Device.ID.init(rawValue:)) }
}
