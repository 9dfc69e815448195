package import Time

/// Analytics identity: projects and their end users, claims, properties, attribution, events, feedback, attachments,
/// questionnaires, and the reads over them.
///
/// This target owns the rules of the analytics specification. Each kind of thing has a folder, and each rule has a
/// file, with its SQL in `…+Store.swift`. The target knows no HTTP and no table of `Accounts`. Work outside requests is
/// in `AnalyticsJobs`. Rules throw `Refusal` if the specification refuses a request, and `MariaDBError` if the database
/// does.
///
/// Rows name an end user by the surrogate key of a record (`Record.ID`), never by the SDK's string. A claim renames a
/// record, or makes it a tombstone that points at another record. So a claim costs the same however many rows the user
/// has (§4.3).
package struct Analytics: Sendable {
    package let settings: AnalyticsSettings
    package let clock: Clock
    let rememberedKeys = RememberedKeys()

    package init(settings: AnalyticsSettings, clock: Clock = .system) {
        self.settings = settings
        self.clock = clock
    }
}

/// The settings that an operator may change (analytics §15).
package struct AnalyticsSettings: Sendable {
    /// Whether requests may name the outcome of an attribution themselves (§7).
    package var isDevelopment: Bool
    package var attributionEndpoint: String
    /// The most time that a request to it may take in total.
    package var attributionTimeout = Self.defaultAttributionTimeout
    package static let defaultAttributionTimeout = Duration.seconds(10)
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
