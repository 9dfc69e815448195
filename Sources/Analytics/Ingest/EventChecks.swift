package import JSON
package import Time

/// The checks of one entry of a batch (analytics §8.2), in the specification's order: the first that fails tells its text.
package struct EventChecks {
    private let platform: Platform
    private let now: Timestamp
    private let oldest: Timestamp?
    private let readHorizon: () throws -> Timestamp
    private var knownHorizon: Timestamp?

    /// - Parameters:
    ///   - now: the event time of entries without a timestamp.
    ///   - maximumAge: nil: as old as the horizon allows.
    ///   - horizon: reads the horizon of `events` (§14.2). Asked at most once, and only for an event from before this month:
    ///     a horizon is the end of a month that is over.
    package init(
        platform: Platform, now: Timestamp, maximumAge: Duration?, horizon: @escaping () throws -> Timestamp
    ) {
        self.platform = platform
        self.now = now
        oldest = maximumAge.map { now - $0 }
        readHorizon = horizon
    }

    /// - Throws: an `EventFault`, or what reading the horizon throws.
    package mutating func event(_ entry: JSONValue) throws -> NewEvent {
        guard case .object(let fields) = entry else { throw EventFault("must be an object") }
        guard let message = fields["message"]?.string, !message.isEmpty else {
            throw EventFault("message is required and must be a string")
        }
        guard let level = (fields["level"]?.string).flatMap(NewEvent.Level.init) else {
            throw EventFault("level must be one of info, debug, warn, error")
        }
        guard let session = fields["session_id"]?.string, !session.isEmpty else {
            throw EventFault("session_id is required and must be a string")
        }
        guard let sessionID = UUID(session) else { throw EventFault("session_id must be a UUID") }
        let timestamp = try fields.timestamp()
        if let timestamp { try check(timestamp) }
        if let environment = fields.value("environment")?.string,
            let objection = platform.objection(to: environment)
        {
            throw EventFault(objection)
        }
        let clientEventID = try fields.clientEventID()
        let isDev = try fields.isDev()
        let attributes = try fields.attributes()
        let environment = try fields.text("environment")
        let userID = try fields.text("user_id", atMost: EndUserID.maximumLength)
        let sourceModule = try fields.text("source_module")
        let screenName = try fields.text("screen_name", atMost: 255)
        let client = NewEvent.Client(
            osVersion: try fields.text("os_version", atMost: 50),
            appVersion: try fields.text("app_version", atMost: 50),
            sdkName: try fields.text("sdk_name", atMost: 50),
            sdkVersion: try fields.text("sdk_version", atMost: 50),
            deviceModel: try fields.text("device_model", atMost: 100),
            buildNumber: try fields.text("build_number", atMost: 50),
            locale: try fields.text("locale", atMost: 20),
            preferredLanguage: try fields.text("preferred_language", atMost: 35))
        let event = NewEvent(
            clientEventID: clientEventID, sessionID: sessionID, userID: userID.map(EndUserID.init), level: level,
            sourceModule: sourceModule, message: message, screenName: screenName,
            attributes: attributes.map(NewEvent.Attributes.init),
            environment: environment, client: client, isDev: isDev, timestamp: timestamp ?? now,
            hasTimestamp: timestamp != nil, supportedLanguages: supportedLanguages(fields["supported_languages"]))
        try event.checkForNUL()
        return event
    }

    private mutating func check(_ timestamp: Timestamp) throws {
        if timestamp > now + .seconds(5 * 60) {
            throw EventFault("timestamp cannot be more than 5 minutes in the future")
        }
        if let oldest, timestamp < oldest { throw EventFault("timestamp cannot be more than 30 days in the past") }
        guard timestamp < now.startOfMonth else { return }
        let horizon = try knownHorizon ?? readHorizon()
        knownHorizon = horizon
        if timestamp < horizon { throw EventFault("timestamp is older than the retention period") }
    }
}

extension NewEvent {
    fileprivate func checkForNUL() throws(EventFault) {
        let texts = [
            ("message", message), ("user_id", userID?.rawValue), ("source_module", sourceModule),
            ("screen_name", screenName), ("os_version", client.osVersion), ("app_version", client.appVersion),
            ("sdk_name", client.sdkName), ("sdk_version", client.sdkVersion), ("device_model", client.deviceModel),
            ("build_number", client.buildNumber), ("locale", client.locale),
            ("preferred_language", client.preferredLanguage),
        ]
        for (field, text) in texts where text?.hasNUL == true { throw .nul(in: field) }
        if attributes?.values.members.contains(where: { $0.name.hasNUL || $0.value.string?.hasNUL == true }) == true {
            throw .nul(in: "custom_attributes")
        }
    }
}

extension EventFault {
    fileprivate static func nul(in field: String) -> EventFault {
        EventFault("\(field) must not contain NUL characters")
    }
}

extension JSONObject {
    /// An optional field: absent, `null` and `""` are all nil.
    fileprivate func value(_ name: String) -> JSONValue? {
        switch self[name] {
        case nil, .null, .string(""): nil
        case let value: value
        }
    }

    fileprivate func text(_ name: String, atMost limit: Int = .max) throws(EventFault) -> String? {
        guard let value = value(name) else { return nil }
        guard let text = value.string else { throw EventFault("\(name) must be a string") }
        if text.isLonger(than: limit) { throw EventFault("\(name) exceeds max length of \(limit)") }
        return text
    }

    /// From 1970 on, cut to milliseconds; nil when there is none.
    fileprivate func timestamp() throws(EventFault) -> Timestamp? {
        let timestamp: Timestamp? =
            switch value("timestamp") {
            case nil: nil
            case .string(let text): Timestamp(iso8601: text)
            case .integer(let milliseconds): Timestamp(milliseconds: milliseconds)
            case .number(let milliseconds):
                Int64(exactly: milliseconds.rounded(.down)).map(Timestamp.init(milliseconds:))
            default: nil
            }
        if timestamp == nil, value("timestamp") == nil { return nil }
        guard let timestamp, (0...Self.latestTime).contains(timestamp.milliseconds) else {
            throw EventFault("timestamp must be a valid ISO 8601 date")
        }
        return timestamp
    }

    /// Of ECMAScript's dates, in milliseconds.
    private static let latestTime: Int64 = 8_640_000_000_000_000

    fileprivate func clientEventID() throws(EventFault) -> UUID? {
        guard let value = value("client_event_id") else { return nil }
        guard let id = value.string.flatMap(UUID.init) else { throw EventFault("client_event_id must be a UUID") }
        return id
    }

    fileprivate func isDev() throws(EventFault) -> Bool {
        guard let value = value("is_dev") else { return false }
        guard case .bool(let isDev) = value else { throw EventFault("is_dev must be a boolean") }
        return isDev
    }

    /// Every value as a string, cut.
    fileprivate func attributes() throws(EventFault) -> JSONObject? {
        guard let value = value("custom_attributes") else { return nil }
        guard case .object(let object) = value else { throw EventFault("custom_attributes must be an object") }
        return object.mapValues { name, value in
            let text = value.string ?? String(decoding: value.json(), as: UTF8.self)
            return .string(text.cut(to: name.utf8.elementsEqual("_error_stack".utf8) ? 16_000 : 200))
        }
    }
}
