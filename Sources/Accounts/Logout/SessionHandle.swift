package import MariaDB
import OpenSSL
import Text

/// What a user's sign-ins in one browser have in common: 16 random bytes, which no relying party sees. If the same user signs
/// in again, it stays.
package struct SessionHandle: Sendable, Equatable, Bindable {
    let bytes: [UInt8]

    init() { bytes = randomBytes(16) }

    init(bytes: [UInt8]) { self.bytes = bytes }

    package var parameter: Parameter { bytes.parameter }

    /// The session's name at an application (OpenID Connect Back-Channel Logout 1.0, `sid`): relying parties cannot
    /// tell by it that they share a user.
    package func sid(at application: Application.ID) -> SessionID {
        SessionID(bytes: Array(sha256(Array("sid:\(application.rawValue):".utf8) + bytes).prefix(16)))
    }
}

/// The claim `sid`: 16 bytes, on the wire in base64url.
package struct SessionID: Sendable, Equatable, Bindable {
    let bytes: [UInt8]

    init(bytes: [UInt8]) { self.bytes = bytes }

    package var parameter: Parameter { bytes.parameter }
    var text: String { Base64URL.encode(bytes) }
}
