import Accounts
import HTTP

extension Response {
    /// A JSON document that clients may cache for as long as a signing key is published before it signs.
    static func publicDocument(_ json: [UInt8]) -> Response {
        Response(
            .ok,
            headers: [
                HeaderField("Content-Type", "application/json"),
                HeaderField("Cache-Control", "public, max-age=\(SigningKey.keySetLifetime.components.seconds)"),
            ], body: json)
    }
}

extension HeaderField {
    /// Clients may cache the answer for an hour.
    static let publicForAnHour = HeaderField("Cache-Control", "public, max-age=3600")
}
