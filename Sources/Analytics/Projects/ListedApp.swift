import JSON

/// An app as reads show it, in the members and the order of analytics §13.3.
package struct ListedApp: Encodable, Sendable {
    let id: App.ID
    let teamID: Team.ID
    let projectID: Project.ID
    let name: String
    let platform: String
    @Nullable var bundleID: String?
    @Nullable var supportedLanguages: JSONValue?
    /// Secrets are not recoverable.
    @Nullable var clientSecret: String?
    let createdAt: WireTime
}
