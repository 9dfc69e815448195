package import JSON
package import Time

/// One event as it was sent, checked (analytics §8.2). This folder owns the way of events into the tables: the checks, what
/// is a duplicate, the metric and funnel copies, and what events tell about users, apps and attachments. Reading them is
/// in `Reads`, how long they are kept in `Jobs`.
package struct NewEvent: Sendable {
    package enum Level: String, Sendable, CaseIterable {
        case info, debug, warn, error
    }

    package var clientEventID: UUID?
    package var sessionID: UUID
    package var userID: EndUserID?
    package var level: Level
    package var sourceModule: String?
    package var message: String
    package var screenName: String?
    package var attributes: Attributes?
    package var environment: String?
    package var client: Client
    package var isDev: Bool
    package var timestamp: Timestamp
    /// Whether `timestamp` was sent; otherwise it is the time of arrival.
    package var hasTimestamp: Bool
    /// In order, each once; nil when none were sent, or nothing that can be used.
    package var supportedLanguages: [String]?

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
}
