/// An event as its caller hands it over: values that exist already, nothing computed. The rest is done in the background.
package struct PendingEvent: Sendable {
    var message: String
    var level: EventLevel
    var screen: String?
    var attributes: [String: String?]
    var attachments: [EventAttachment]
    /// What the device believes the time to be, in milliseconds since 1970.
    var milliseconds: Int64
    var source: SourceLocation
    var context: EventContext

    package init(
        message: String, level: EventLevel, screen: String?, attributes: [String: String?],
        attachments: [EventAttachment], milliseconds: Int64, source: SourceLocation, context: EventContext
    ) {
        (self.message, self.level, self.screen, self.attributes) = (message, level, screen, attributes)
        (self.attachments, self.milliseconds) = (attachments, milliseconds)
        (self.source, self.context) = (source, context)
    }
}

/// Where an event was reported.
public struct SourceLocation: Sendable {
    /// `Module/File.swift`
    var file: StaticString
    var function: StaticString
    var line: Int

    /// By default the caller's place.
    public init(file: StaticString = #fileID, function: StaticString = #function, line: Int = #line) {
        (self.file, self.function, self.line) = (file, function, line)
    }
}

/// Whose events are reported, in which session. Shared by all events until one of the three changes.
package final class EventContext: Sendable {
    let userID: String
    let sessionID: String
    let connection: Connection

    package init(userID: String, sessionID: String, connection: Connection) {
        (self.userID, self.sessionID, self.connection) = (userID, sessionID, connection)
    }

    func with(userID: String? = nil, connection: Connection? = nil) -> EventContext {
        EventContext(
            userID: userID ?? self.userID, sessionID: sessionID, connection: connection ?? self.connection)
    }
}

/// How the device is connected, as the attribute `_connection` of each event says.
package enum Connection: String, Sendable {
    case wifi, cellular, ethernet, offline, unknown
}
