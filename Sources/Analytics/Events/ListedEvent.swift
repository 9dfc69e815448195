import JSON
import MariaDB

/// An event as reads show it, with the members and their order of analytics §13.1.
package struct ListedEvent: Encodable, Sendable {
    package typealias ID = EntityID<ListedEvent>

    package let id: ID
    let appID: App.ID
    @Nullable var clientEventID: UUID?
    let sessionID: UUID
    @Nullable var userID: String?
    @Nullable var apiKeyID: UUID?
    let level: String
    @Nullable var sourceModule: String?
    let message: String
    @Nullable var screenName: String?
    @Nullable var customAttributes: JSONValue?
    @Nullable var environment: String?
    @Nullable var osVersion: String?
    @Nullable var appVersion: String?
    @Nullable var sdkName: String?
    @Nullable var sdkVersion: String?
    @Nullable var deviceModel: String?
    @Nullable var buildNumber: String?
    @Nullable var locale: String?
    @Nullable var preferredLanguage: String?
    @Nullable var countryCode: String?
    let isDev: Bool
    let timestamp: WireTime
    let receivedAt: WireTime

    /// The columns are in the order of the members.
    init(from row: inout Row) throws {
        id = try row.read()
        appID = try row.read()
        clientEventID = try row.read()
        sessionID = try row.read()
        userID = try row.read()
        apiKeyID = try row.read()
        level = try row.read()
        sourceModule = try row.read()
        message = try row.read()
        screenName = try row.read()
        customAttributes = try row.readJSON()
        environment = try row.read()
        osVersion = try row.read()
        appVersion = try row.read()
        sdkName = try row.read()
        sdkVersion = try row.read()
        deviceModel = try row.read()
        buildNumber = try row.read()
        locale = try row.read()
        preferredLanguage = try row.read()
        countryCode = try row.read()
        isDev = try row.read()
        timestamp = try row.read()
        receivedAt = try row.read()
    }
}
