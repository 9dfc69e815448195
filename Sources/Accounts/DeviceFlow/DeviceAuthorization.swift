/// A request of a device without a browser, which a user approves elsewhere (RFC 8628, accounts §2.11).
package struct DeviceAuthorization: Sendable {
    package typealias ID = Identifier<DeviceAuthorization>

    package let deviceCode: String
    package let userCode: UserCode

    package static let lifetime = Duration.seconds(600)
    /// The first pause between polls. Each poll that comes too early makes the pause longer by as much.
    package static let interval = Duration.seconds(5)
}

/// The request that a user is asked to approve.
package struct DeviceRequest: Sendable {
    package let id: DeviceAuthorization.ID
    package let userCode: UserCode
    package let application: Application
    package let scopes: Scopes
}

package enum DeviceDecision: String, Sendable, CaseIterable {
    case approve, deny
}
