import JSON
import MariaDB

/// A record as reads show it, with the members and their order of analytics §13.2; never a tombstone.
package struct ListedEndUser: Encodable, Sendable {
    struct AppVisit: Encodable, Sendable {
        let appID: App.ID
        let appName: String
        let firstSeenAt: WireTime
        let lastSeenAt: WireTime
    }

    /// Not part of the answer.
    let record: Record.ID
    let id: UUID
    let projectID: Project.ID
    let userID: String
    let isAnonymous: Bool
    /// The anonymous ids that the user has claimed, in the order of the claims; nil for none.
    @Nullable var claimedFrom: [String]?
    let properties: JSONValue
    /// Only live apps.
    var apps: [AppVisit] = []
    let firstSeenAt: WireTime
    let lastSeenAt: WireTime
    @Nullable var lastCountryCode: String?
    @Nullable var lastAppVersion: String?
    @Nullable var lastSDKName: String?
    @Nullable var lastSDKVersion: String?
    @Nullable var lastLocale: String?
    @Nullable var lastPreferredLanguage: String?
    @Nullable var totalRevenueUSDCents: Int64?
    @Nullable var revenueSyncedAt: WireTime?
    let isDev: Bool

    private enum CodingKeys: CodingKey {
        case id, projectID, userID, isAnonymous, claimedFrom, properties, apps, firstSeenAt, lastSeenAt, lastCountryCode
        case lastAppVersion, lastSDKName, lastSDKVersion, lastLocale, lastPreferredLanguage, totalRevenueUSDCents
        case revenueSyncedAt, isDev
    }

    /// The columns are in the order of the members. Members from other tables are filled in later.
    init(from row: inout Row) throws {
        record = try row.read()
        id = try row.read()
        projectID = try row.read()
        userID = try row.read()
        isAnonymous = try row.read()
        properties = try row.readJSON() ?? [:]
        firstSeenAt = try row.read()
        lastSeenAt = try row.read()
        lastCountryCode = try row.read()
        lastAppVersion = try row.read()
        lastSDKName = try row.read()
        lastSDKVersion = try row.read()
        lastLocale = try row.read()
        lastPreferredLanguage = try row.read()
        totalRevenueUSDCents = try row.read()
        revenueSyncedAt = try row.read()
        isDev = try row.read()
    }
}
