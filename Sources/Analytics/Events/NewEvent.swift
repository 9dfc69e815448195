package import JSON
internal import Text
package import Time

/// One event as it was sent, checked (analytics §8.2). This folder owns the way of events into the tables: the checks, what
/// is a duplicate, the metric and funnel copies, and what events tell about users, apps and attachments; and the way
/// out: lists, counts and single events. How long they are kept is in `Jobs`.
///
/// A class, because there are too many fields to copy them on each step of that way.
package final class NewEvent: Sendable {
    package enum Level: String, Sendable, CaseIterable {
        case info, debug, warn, error
    }

    package let clientEventID: UUID?
    package let sessionID: UUID
    package let userID: EndUserID?
    package let level: Level
    package let sourceModule: String?
    package let message: String
    package let screenName: String?
    package let attributes: Attributes?
    package let environment: String?
    package let client: Client
    package let isDev: Bool
    package let timestamp: Timestamp
    /// Whether `timestamp` was sent; otherwise it is the time of arrival.
    package let hasTimestamp: Bool
    /// In order, each once; nil when none were sent, or nothing that can be used.
    package let supportedLanguages: [String]?

    /// Nothing but strings, cut.
    package struct Attributes: Sendable {
        package let values: JSONObject
        /// As JSON.
        let text: String

        init(_ values: JSONObject) {
            self.values = values
            text = String(decoding: JSONValue.object(values).json(), as: UTF8.self)
        }

        subscript(name: String) -> String? { values[name]?.string }
    }

    /// The software an event comes from.
    package struct Client: Sendable {
        package var osVersion: String?
        package var appVersion: String?
        package var sdkName: String?
        package var sdkVersion: String?
        package var deviceModel: String?
        package var buildNumber: String?
        package var locale: String?
        package var preferredLanguage: String?
    }

    /// Checks in the specification's order: the first that fails tells its text.
    ///
    /// - Throws: an `EventFault`, or what reading the horizon throws.
    init(_ fields: JSONObject, _ checks: inout EventChecks) throws {
        guard let message = fields["message"]?.string, !message.isEmpty else {
            throw EventFault("message is required and must be a string")
        }
        guard let level = (fields["level"]?.string).flatMap(Level.init(bytes:)) else {
            throw EventFault("level must be one of info, debug, warn, error")
        }
        guard let session = fields["session_id"]?.string, !session.isEmpty else {
            throw EventFault("session_id is required and must be a string")
        }
        guard let sessionID = UUID(session) else { throw EventFault("session_id must be a UUID") }
        (self.message, self.level, self.sessionID) = (message, level, sessionID)
        let sentTime = try fields.timestamp()
        if let sentTime { try checks.check(sentTime) }
        timestamp = sentTime ?? checks.now
        hasTimestamp = sentTime != nil
        if let environment = fields.value("environment")?.string { try checks.check(environment: environment) }
        clientEventID = try fields.clientEventID()
        isDev = try fields.isDev()
        attributes = try fields.attributes()
        environment = try fields.text("environment")
        userID = try fields.text("user_id", atMost: EndUserID.maximumLength).map(EndUserID.init)
        sourceModule = try fields.text("source_module")
        screenName = try fields.text("screen_name", atMost: 255)
        client = Client(
            osVersion: try fields.text("os_version", atMost: 50),
            appVersion: try fields.text("app_version", atMost: 50),
            sdkName: try fields.text("sdk_name", atMost: 50),
            sdkVersion: try fields.text("sdk_version", atMost: 50),
            deviceModel: try fields.text("device_model", atMost: 100),
            buildNumber: try fields.text("build_number", atMost: 50),
            locale: try fields.text("locale", atMost: 20),
            preferredLanguage: try fields.text("preferred_language", atMost: 35))
        supportedLanguages = fields.supportedLanguages()
        try checkForNUL()
    }

    private func checkForNUL() throws(EventFault) {
        func check(_ text: String?, _ field: String) throws(EventFault) {
            if let text, text.hasNUL { throw EventFault("\(field) must not contain NUL characters") }
        }
        try check(message, "message")
        try check(userID?.rawValue, "user_id")
        try check(sourceModule, "source_module")
        try check(screenName, "screen_name")
        try check(client.osVersion, "os_version")
        try check(client.appVersion, "app_version")
        try check(client.sdkName, "sdk_name")
        try check(client.sdkVersion, "sdk_version")
        try check(client.deviceModel, "device_model")
        try check(client.buildNumber, "build_number")
        try check(client.locale, "locale")
        try check(client.preferredLanguage, "preferred_language")
        guard let attributes else { return }
        for member in attributes.values.members {
            try check(member.name, "custom_attributes")
            try check(member.value.string, "custom_attributes")
        }
    }
}
