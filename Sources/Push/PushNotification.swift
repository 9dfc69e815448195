package import JSON
package import Time

/// A message that a device shows.
///
/// This target owns notifications to phones: their form, their way to Apple's server (APNs) or into a file, the provider
/// token, and the queue in which they wait. It does not own what they are about, nor which devices a person has: it is told
/// by a `PushDirectory`.
package struct PushNotification: Sendable {
    package var title: String
    package var text: String
    /// What the app gets beside the text. No secrets: a notification passes through others' servers.
    package var content: [(name: String, value: JSONValue)]
    /// When it is of no use any more.
    package var expiresAt: Timestamp

    package init(
        title: String, text: String, content: [(name: String, value: JSONValue)], expiresAt: Timestamp
    ) {
        self.title = title
        self.text = text
        self.content = content
        self.expiresAt = expiresAt
    }

    /// The body of a request to APNs (Apple, "Generating a remote notification").
    var payload: [UInt8] {
        let alert: JSONValue = ["title": .string(title), "body": .string(text)]
        let members = [(name: "aps", value: ["alert": alert, "sound": "default"])] + content
        return JSONValue.object(JSONObject(members.map { ($0.name, $0.value) })).json()
    }
}

/// Where a device takes notifications.
package struct PushToken: Equatable, Sendable {
    /// Which of Apple's servers the token is for.
    package enum Environment: String, Sendable, CaseIterable {
        case sandbox, production
    }

    package let device: Int64
    /// Lower-case hexadecimal.
    package let text: String
    package let environment: Environment

    package init(device: Int64, text: String, environment: Environment) {
        self.device = device
        self.text = text
        self.environment = environment
    }
}

/// Knows people's devices. One thread calls it.
package protocol PushDirectory {
    func tokens(of user: Int64) throws -> [PushToken]
    /// Called when Apple says that the app is gone from a device.
    ///
    /// - Parameter time: since when, if Apple says that; a token that was registered later is good.
    func forget(_ token: PushToken, goneSince time: Timestamp?) throws
    /// Called when no notification has been under way for a while: it may let go of what it holds.
    func rest()
}

extension PushDirectory {
    /// For one that holds nothing.
    package func rest() {}
}
