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
