/// A device without a browser that asks to act for a person who decides elsewhere (RFC 8628, accounts §2.11).
package struct DeviceAuthorization: Sendable {
    package typealias ID = Identifier<DeviceAuthorization>

    package let deviceCode: String
    package let userCode: UserCode

    package static let lifetime = Duration.seconds(600)
    /// What a device waits between polls at first, and how much longer after every poll that came too early.
    package static let interval = Duration.seconds(5)
}

/// What a person is asked to allow a device.
package struct DeviceRequest: Sendable {
    package let id: DeviceAuthorization.ID
    package let userCode: UserCode
    package let application: Application
    package let scopes: Scopes
}

package enum DeviceDecision: String, Sendable, CaseIterable {
    case approve, deny
}
