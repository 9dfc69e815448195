package import JSON
internal import Text
package import Time

/// One event from a request, checked (analytics §8.2).
///
/// It is a class because it has too many fields to copy at each step.
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
    /// In order, without repetition; nil if none were sent, or none are valid.
    package let supportedLanguages: [String]?

    /// Attributes whose values are all strings, truncated to their limits.
    package struct Attributes: Sendable {
        /// As JSON text.
        let text: String
        /// Whether a name or a value has one.
        let hasNUL: Bool

        /// Read from the text. Only for copies (`EventCopy`): hardly any event has one.
        package var values: JSONObject {
            guard case .object(let values)? = try? JSONValue(json: Array(text.utf8)) else {
                preconditionFailure("the text is an object's")
            }
            return values
        }
    }

    /// The software that sent an event.
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

    /// Reads one entry of a batch, and checks it in the specification's order. The answer has the text of the first
    /// check that fails.
    ///
    /// - Parameter platform: the platform of the sending app.
    /// - Throws: an `EventFault`, or what reading the horizon throws.
    package init(_ entry: ParsedValue, of platform: AppPlatform, within times: inout EventTimes) throws {
        guard let object = entry.object else { throw EventFault("must be an object") }
        let fields = object.indexed
        guard let message = fields.parsed("message")?.string, !message.isEmpty else {
            throw EventFault("message is required and must be a string")
        }
        guard let level = (fields.parsed("level")?.string).flatMap(Level.init(bytes:)) else {
            throw EventFault("level must be one of info, debug, warn, error")
        }
        guard let session = fields.parsed("session_id")?.utf8, !session.isEmpty else {
            throw EventFault("session_id is required and must be a string")
        }
        guard let sessionID = UUID(session.span) else { throw EventFault("session_id must be a UUID") }
        (self.message, self.level, self.sessionID) = (message, level, sessionID)
        let sentTime = try fields.timestamp()
        if let sentTime { try times.check(sentTime) }
        timestamp = sentTime ?? times.now
        hasTimestamp = sentTime != nil
        if let objection = fields.value("environment")?.string.flatMap(platform.objection) {
            throw EventFault(objection)
        }
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
        // Only an escape can stand for a NUL.
        if entry.hasEscapes { try checkForNUL() }
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
        if attributes?.hasNUL == true { throw EventFault("custom_attributes must not contain NUL characters") }
    }
}

extension ParsedObject {
    /// Whether the event gets the time of its arrival.
    var isUndated: Bool { member("timestamp")?.isNullOrEmpty ?? true }
}

/// The fields of an event.
extension IndexedObject {
    /// The value of an optional field; nil if it is absent, `null` or `""`.
    fileprivate func value(_ name: String) -> ParsedValue? {
        guard let value = parsed(name), !value.isNullOrEmpty else { return nil }
        return value
    }

    fileprivate func text(_ name: String, atMost limit: Int = .max) throws(EventFault) -> String? {
        guard let value = value(name) else { return nil }
        guard let text = value.string else { throw EventFault("\(name) must be a string") }
        if text.isLonger(than: limit) { throw EventFault("\(name) exceeds max length of \(limit)") }
        return text
    }

    /// The timestamp, truncated to milliseconds, from 1970 on; nil if there is none.
    fileprivate func timestamp() throws(EventFault) -> Timestamp? {
        guard let value = value("timestamp") else { return nil }
        let timestamp: Timestamp? =
            if let text = value.utf8 {
                Timestamp(iso8601: text)
            } else {
                switch value.value {
                case .integer(let milliseconds): Timestamp(milliseconds: milliseconds)
                case .number(let milliseconds):
                    Int64(exactly: milliseconds.rounded(.down)).map(Timestamp.init(milliseconds:))
                default: nil
                }
            }
        guard let timestamp, (0...Self.latestTime).contains(timestamp.milliseconds) else {
            throw EventFault("timestamp must be a valid ISO 8601 date")
        }
        return timestamp
    }

    /// The latest time of an ECMAScript date, in milliseconds.
    private static let latestTime: Int64 = 8_640_000_000_000_000

    fileprivate func clientEventID() throws(EventFault) -> UUID? {
        guard let value = value("client_event_id") else { return nil }
        guard let id = value.utf8.flatMap({ UUID($0.span) }) else { throw EventFault("client_event_id must be a UUID") }
        return id
    }

    fileprivate func isDev() throws(EventFault) -> Bool {
        guard let value = value("is_dev") else { return false }
        guard case .bool(let isDev) = value.value else { throw EventFault("is_dev must be a boolean") }
        return isDev
    }

    /// The attributes with every value as a string, truncated to its limit.
    fileprivate func attributes() throws(EventFault) -> NewEvent.Attributes? {
        let limit = 200
        guard let value = value("custom_attributes") else { return nil }
        // A text has at most as many UTF-16 code units as bytes.
        if let text = value.object?.plainText(valuesAtMost: limit) {
            return NewEvent.Attributes(text: String(decoding: text, as: UTF8.self), hasNUL: false)
        }
        guard case .object(let object) = value.value else { throw EventFault("custom_attributes must be an object") }
        let values = object.mapValues { name, value in
            let text = value.string ?? String(decoding: value.json(), as: UTF8.self)
            return .string(text.prefix(utf16: name.hasSameBytes(as: "_error_stack") ? 16_000 : limit))
        }
        return NewEvent.Attributes(
            text: String(decoding: JSONValue.object(values).json(), as: UTF8.self),
            hasNUL: values.members.contains { $0.name.hasNUL || $0.value.string?.hasNUL == true })
    }

    /// The languages of the app, as an event lists them (analytics §8.4): trimmed, in byte order, without repetition,
    /// empty names and `Base`. Nil if the value is not an array of strings, if a string has a NUL, or if no name is
    /// left. Also nil if there are too many names, or if one is longer than `preferred_language` may be.
    fileprivate func supportedLanguages() -> [String]? {
        guard let values = parsed("supported_languages")?.value.array else { return nil }
        let languages = values.compactMap { $0.string?.trimmed }
        guard languages.count == values.count, !languages.contains(where: \.hasNUL) else { return nil }
        let distinct = Set(languages.map { Array($0.utf8) }).subtracting([[], Array("Base".utf8)])
        guard (1...mostLanguages).contains(distinct.count) else { return nil }
        let names = distinct.sorted { $0.lexicographicallyPrecedes($1) }.map { String(decoding: $0, as: UTF8.self) }
        return names.contains { $0.isLonger(than: 35) } ? nil : names
    }
}

private let mostLanguages = 200
