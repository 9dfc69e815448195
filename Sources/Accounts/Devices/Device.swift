import OpenSSL
import Text
package import Time

/// One installation of an app.
package struct Device: Equatable, Sendable {
    package typealias ID = Identifier<Device>

    package var id: ID
    package var owner: User.ID
    /// In the spelling of the first registration.
    package var uuid: String
    package var platform: String
    package var attestationVerified: Bool
    package var firstSeenAt: Timestamp
    package var lastSeenAt: Timestamp
    package var application: Application.ID?
    /// Nil if the secret was voided: no secret opens the device.
    var secretDigest: [UInt8]?

    /// Whether this is its secret. Compared in constant time.
    func isOpened(by presented: String?) -> Bool {
        guard let presented, let secretDigest else { return false }
        return constantTimeEqual(Secret(presented: presented).digest, secretDigest)
    }
}

/// The text form of a UUID (RFC 9562 §4): 8-4-4-4-12 hexadecimal digits in upper or lower case, of any version; also
/// the nil UUID.
package struct DeviceUUID: Sendable {
    package let text: String

    package init?(_ text: String) {
        let bytes = text.utf8Span.span
        guard bytes.count == 36 else { return nil }
        for index in bytes.indices {
            switch index {
            case 8, 13, 18, 23: guard bytes[index] == UInt8(ascii: "-") else { return nil }
            default: guard bytes[index].hexadecimalValue != nil else { return nil }
            }
        }
        self.text = text
    }
}

/// The platform that a device runs (accounts §1.2).
package enum DevicePlatform: String, Sendable, CaseIterable {
    case ios, android, macos, web
}
