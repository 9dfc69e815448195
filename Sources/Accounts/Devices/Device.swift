import Text
package import Time

/// One installation of the app on one device.
package struct Device: Equatable, Sendable {
    package typealias ID = Identifier<Device>

    package var id: ID
    package var owner: User.ID
    /// In the spelling first registered.
    package var uuid: String
    package var platform: String
    package var attestationVerified: Bool
    package var firstSeenAt: Timestamp
    package var lastSeenAt: Timestamp
    var application: Application.ID?
    /// Nil: voided, no secret opens it.
    var secretDigest: [UInt8]?
}

/// The text form of a UUID (RFC 9562 §4): 8-4-4-4-12 hexadecimal digits in any case, of any version, the nil UUID too.
package struct DeviceUUID: Sendable {
    package let text: String

    package init?(_ text: String) {
        let groups = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard groups.map(\.count) == [8, 4, 4, 4, 12], groups.joined().allSatisfy({ $0.hexadecimalValue != nil })
        else {
            return nil
        }
        self.text = text
    }
}

/// What a device runs (accounts §1.2).
package enum DevicePlatform: String, Sendable, CaseIterable {
    case ios, android, macos, web
}
