import Foundation

/// A former SDK of an app, whose sign-in is taken over so that an update of the app signs nobody out.
///
/// What it stored counts where this library has stored nothing yet, and is removed once this library has.
public struct Adoption: Sendable {
    /// LogiAuth: its refresh token for `AuthSession`, its device for `AccountSession`.
    public static let logiAuth = Adoption(prefix: "dev.1pass.LogiAuth")

    private let prefix: String

    /// What an item would hold if this library had stored it; nil if the SDK left nothing for it.
    func content(of item: StoredItem, in passwords: some Passwords) throws(StoreFault) -> Data? {
        switch item.kind {
        case .tokens:
            guard let token = try passwords.password(tokenService(item), "refresh_token") else { return nil }
            return try RecordStore.encoded(SessionRecord(adopting: token))
        case .device:
            for device in Self.devices {
                guard let service = try service(of: device, passwords),
                    let uuid = try passwords.password(service, device.uuid),
                    let secret = try passwords.password(service, device.secret)
                else { continue }
                return try RecordStore.encoded(DeviceRecord(uuid: uuid, secret: secret))
            }
            return nil
        case .account, .keys: return nil
        }
    }

    /// Removes what `content` found.
    func remove(_ item: StoredItem, from passwords: some Passwords) throws(StoreFault) {
        switch item.kind {
        case .tokens: try passwords.remove(tokenService(item), "refresh_token")
        case .device:
            for device in Self.devices {
                guard let service = try service(of: device, passwords) else { continue }
                for account in [device.uuid, device.secret] + device.others { try passwords.remove(service, account) }
            }
        case .account, .keys: return
        }
    }

    private func tokenService(_ item: StoredItem) -> String { "\(prefix).\(item.owner)" }

    /// How the SDK stored a device: under a service of its kind and the client_id.
    private struct Device {
        var kind: String
        var uuid: String
        var secret: String
        var others: [String] = []
    }

    /// A device that somebody signed in on comes before the guest's that it was.
    private static let devices = [
        Device(kind: "device", uuid: "device_uuid", secret: "device_secret", others: ["device_record_id"]),
        Device(kind: "anonymous", uuid: "anonymous_device_id", secret: "anonymous_device_secret"),
    ]

    /// The only service of a kind. Of several client_ids nobody could say which one is this device's.
    private func service(of device: Device, _ passwords: some Passwords) throws(StoreFault) -> String? {
        let services = try passwords.services(of: device.uuid).filter { $0.hasPrefix("\(prefix).\(device.kind).") }
        return services.count == 1 ? services[0] : nil
    }
}

/// Generic passwords of the Keychain, each under a service and an account.
protocol Passwords {
    func password(_ service: String, _ account: String) throws(StoreFault) -> String?
    /// The services that have a password for an account.
    func services(of account: String) throws(StoreFault) -> [String]
    /// Removes a password, if there is one.
    func remove(_ service: String, _ account: String) throws(StoreFault)
}
