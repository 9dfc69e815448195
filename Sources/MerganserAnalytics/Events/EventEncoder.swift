import Foundation

/// Writes events as the server takes them (analytics §8.2), with what the deployed clients send: the same members, the
/// same attributes, the same cuts.
package struct EventEncoder: Sendable {
    let device: DeviceDescription
    let isDevelopment: Bool

    package init(device: DeviceDescription, isDevelopment: Bool) {
        (self.device, self.isDevelopment) = (device, isDevelopment)
    }

    static let longestMessage = 2000
    static let longestValue = 200
    static let longestStack = 16_000
    /// Longer ones would cost the event (analytics §3.2).
    static let longestScreen = 255

    package func encode(_ event: PendingEvent, id: String) -> [UInt8] {
        let file = Self.lastComponent(of: event.source.file)
        let line = String(event.source.line)
        let function = "\(event.source.function)"
        var object = JSONText(reserving: 1024)
        object.member("client_event_id", id)
        object.member("session_id", event.context.sessionID)
        object.member("user_id", event.context.userID)
        object.member("level", event.level.rawValue)
        object.member("source_module", "\(file):\(function):\(line)")
        object.member("message", Self.cut(event.message, to: Self.longestMessage))
        object.member("screen_name", event.screen.map { Self.cut($0, utf16: Self.longestScreen) })
        object.member(
            "custom_attributes",
            Self.attributes(event.attributes) + [
                ("_file", file), ("_function", function), ("_line", line),
                ("_connection", event.context.connection.rawValue),
            ])
        object.member("environment", device.environment.rawValue)
        object.member("os_version", device.osVersion)
        object.member("app_version", device.appVersion)
        object.member("sdk_name", SDK.name)
        object.member("sdk_version", SDK.version)
        object.member("build_number", device.buildNumber)
        object.member("device_model", device.deviceModel)
        object.member("locale", device.locale)
        object.member("preferred_language", device.preferredLanguage)
        object.member("supported_languages", device.supportedLanguages)
        object.member("is_dev", isDevelopment)
        // Last, where `milliseconds(of:)` looks for it.
        object.member("timestamp", Self.timestamp(event.milliseconds))
        return object.end()
    }

    /// What the library says itself comes last, and once.
    private static let own: Set = ["_file", "_function", "_line", "_connection"]

    private static func attributes(_ attributes: [String: String?]) -> [(String, String)] {
        attributes.compactMap { key, value in
            guard let value, !own.contains(key) else { return nil }
            return (key, cut(value, to: key == "_error_stack" ? longestStack : longestValue))
        }
    }

    private static func lastComponent(of file: StaticString) -> String {
        let path = "\(file)"
        return path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }

    /// The first `count` characters.
    static func cut(_ text: String, to count: Int) -> String {
        // A character is at least a byte, so most texts need no counting.
        text.utf8.count <= count ? text : String(text.prefix(count))
    }

    /// As many characters as fit into `count` UTF-16 code units.
    static func cut(_ text: String, utf16 count: Int) -> String {
        guard text.utf8.count > count else { return text }
        var rest = count
        return String(
            text.prefix { character in
                rest -= character.utf16.count
                return rest >= 0
            })
    }

    /// `2026-11-22T10:30:00.000Z`
    ///
    /// By hand, since ISO8601DateFormatter takes longer than all the rest of an event.
    static func timestamp(_ milliseconds: Int64) -> String {
        let seconds = Int(milliseconds / 1000)
        let (days, second) = (seconds / 86_400, seconds % 86_400)
        // The Gregorian calendar in eras of 400 years that begin on 1 March.
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        func padded(_ number: Int, _ width: Int = 2) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
        }
        return "\(padded(year, 4))-\(padded(month))-\(padded(day))T\(padded(second / 3600)):\(padded(second / 60 % 60))"
            + ":\(padded(second % 60)).\(padded(Int(milliseconds % 1000), 3))Z"
    }
}

extension EventEncoder {
    /// What ends an encoded event after its time.
    private static let end = Array("\"}".utf8)
    /// Of what `timestamp` makes.
    private static let timestampLength = 24

    /// The time of an encoded event, in milliseconds since 1970; nil if it does not end with one.
    static func milliseconds(of event: ArraySlice<UInt8>) -> Int64? {
        guard event.suffix(end.count).elementsEqual(end) else { return nil }
        let text = String(decoding: event.dropLast(end.count).suffix(timestampLength), as: UTF8.self)
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        return (try? Date(text, strategy: style)).map { Int64(($0.timeIntervalSince1970 * 1000).rounded()) }
    }

    /// The same event at another time.
    static func event(_ event: ArraySlice<UInt8>, at milliseconds: Int64) -> ArraySlice<UInt8> {
        event.dropLast(timestampLength + end.count) + Array(timestamp(milliseconds).utf8) + end
    }
}

/// What this library calls itself on the wire.
enum SDK {
    static let name = "merganser-swift"
    static let version = "1.0.0"
}
