package import Time

/// Analytics identity: projects and their end users, claims, properties, attribution, events, feedback, attachments,
/// questionnaires, and the reads over them.
///
/// This target owns the rules of the analytics specification and the SQL beside them: a folder for each kind of thing, a
/// file for each rule, its statements in `…+Store.swift`. It knows no HTTP, and no table of `Accounts`; what is done beside
/// requests is in `AnalyticsJobs`. Rules throw `Refusal` for what the specification refuses and `MariaDBError` for what the
/// database refuses.
///
/// Rows name an end user by the surrogate key of a record (`Record.ID`), never by the SDK's string: a claim renames a
/// record or makes it a tombstone that points at another, and so costs the same whatever the history (§4.3).
package struct Analytics: Sendable {
    package let settings: AnalyticsSettings
    package let clock: Clock

    package init(settings: AnalyticsSettings, clock: Clock = .system) {
        self.settings = settings
        self.clock = clock
    }
}

/// What an operator may set (analytics §15).
package struct AnalyticsSettings: Sendable {
    /// Whether requests may name the outcome of an attribution themselves (§7).
    package var isDevelopment: Bool
    package var attributionEndpoint: String
    package var attachments: AttachmentSettings
    /// How long a tombstone stays after its claim.
    package var tombstoneGrace: Duration

    package init(
        isDevelopment: Bool = false, attributionEndpoint: String = "https://api-adservices.apple.com/api/v1/",
        attachments: AttachmentSettings, tombstoneGrace: Duration = .seconds(600)
    ) {
        self.isDevelopment = isDevelopment
        self.attributionEndpoint = attributionEndpoint
        self.attachments = attachments
        self.tombstoneGrace = tombstoneGrace
    }
}
