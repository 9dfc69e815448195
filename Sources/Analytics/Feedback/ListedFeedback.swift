import JSON
import MariaDB

/// One message of a user as reads show it, with the members and their order of analytics §13.3.
package struct ListedFeedback: Encodable, Sendable {
    package typealias ID = EntityID<ListedFeedback>

    package let id: ID
    let appID: App.ID
    let projectID: Project.ID
    @Nullable var sessionID: UUID?
    @Nullable var userID: String?
    let message: String
    @Nullable var submitterName: String?
    @Nullable var submitterEmail: String?
    let status: String
    let isDev: Bool
    @Nullable var environment: String?
    @Nullable var osVersion: String?
    @Nullable var appVersion: String?
    @Nullable var sdkName: String?
    @Nullable var sdkVersion: String?
    @Nullable var deviceModel: String?
    @Nullable var countryCode: String?
    let createdAt: WireTime
    let updatedAt: WireTime
    let appName: String
    let projectName: String
    /// Nil if the message has no user.
    @Nullable var userProperties: JSONValue?

    /// The columns are in the order of the members.
    init(from row: inout Row) throws {
        id = try row.read()
        appID = try row.read()
        projectID = try row.read()
        sessionID = try row.read()
        userID = try row.read()
        message = try row.read()
        submitterName = try row.read()
        submitterEmail = try row.read()
        status = try row.read()
        isDev = try row.read()
        environment = try row.read()
        osVersion = try row.read()
        appVersion = try row.read()
        sdkName = try row.read()
        sdkVersion = try row.read()
        deviceModel = try row.read()
        countryCode = try row.read()
        createdAt = try row.read()
        updatedAt = try row.read()
        appName = try row.read()
        projectName = try row.read()
        let properties = try row.readJSON()
        userProperties = userID == nil ? nil : properties ?? [:]
    }
}
